import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.linear(x))


class DrivingNet(nn.Module):
    """One trunk over camera features; heads for depth, lanes and the kind of surface."""

    def __init__(self, features=96, width=256):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.mixer = Mixer(width)
        self.heads = nn.ModuleDict(
            {"depth": nn.Linear(width, 1), "lanes": nn.Linear(width, 4), "surface": nn.Linear(width, 6)}
        )

    def forward(self, x):
        hidden = self.mixer(self.stem(x))
        return {task: head(hidden) for task, head in self.heads.items()}
