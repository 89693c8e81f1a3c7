import torch
from torch import nn


class FrontNet(nn.Module):
    def __init__(self, width, bins=512, marks=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(bins, width), nn.GELU())
        self.head = nn.Linear(width, marks)

    def forward(self, echoes):
        return self.head(self.body(echoes))


class Radar:
    def __init__(self, bins=512, marks=32, seed=3):
        self.generator = torch.Generator().manual_seed(seed)
        self.mixing = torch.randn(bins, marks, generator=self.generator) / 30

    def draw(self, count=32):
        echoes = torch.randn(count, len(self.mixing), generator=self.generator)
        return echoes, echoes @ self.mixing
