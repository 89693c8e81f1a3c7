from itertools import pairwise

import torch
from torch import nn


class TemperatureField(nn.Module):
    def __init__(self, width=48, depth=3):
        super().__init__()
        sizes = [2] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        self.value = nn.Linear(width, 1)

    def forward(self, points):
        for layer in self.hidden:
            points = torch.tanh(layer(points))
        return self.value(points)


class Collocation:
    def __init__(self, count=1000, seed=59):
        self.count, self.generator = count, torch.Generator().manual_seed(seed)

    def inside(self):
        return torch.rand(self.count, 2, generator=self.generator)

    def boundary(self):
        points = torch.rand(self.count // 4, 2, generator=self.generator)
        points[:, 1] = 0.0
        return points, torch.sin(torch.pi * points[:, :1])
