"""Teacher and student of the nowcast."""

from torch import nn
import torch.nn.functional as F


class RainNet(nn.Module):
    def __init__(self, past, width, depth):
        super().__init__()
        self.inp = nn.Conv2d(past, width, 5, padding=2)
        self.body = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(depth))
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x = F.relu(self.inp(x))
        for conv in self.body:
            x = x + F.relu(conv(x))
        return self.out(x)
