import torch
from torch import nn


def bucket(length, size=32):
    return -(-length // size) * size


class RotaryTable(nn.Module):
    """Angles for a bucket of lengths are computed when a sequence first needs them."""

    def __init__(self, dim, base=10_000.0):
        super().__init__()
        self.rates = base ** (-torch.arange(0, dim, 2) / dim)
        self.tables = {}

    def table(self, length):
        size = bucket(length)
        if size not in self.tables:
            angles = torch.outer(torch.arange(size), self.rates)
            self.tables[size] = torch.stack([angles.cos(), angles.sin()])
        return self.tables[size][:, :length]

    def forward(self, x):
        cos, sin = self.table(x.size(1))
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)
