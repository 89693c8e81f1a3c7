import torch
from torch import nn


class RotaryTable(nn.Module):
    """Cosine and sine of the positions `offset .. offset + length`, made once for each window."""

    def __init__(self, width, base=10_000.0):
        super().__init__()
        self.register_buffer("inverse", base ** -(torch.arange(0, width, 2) / width), persistent=False)
        self._tables = {}

    def forward(self, offset, length):
        window = (offset, length)
        if window not in self._tables:
            angles = torch.arange(offset, offset + length).unsqueeze(1) * self.inverse
            self._tables[window] = torch.cat([angles.cos(), angles.sin()], -1)
        return self._tables[window]


def rotate(x, table):
    cos, sin = table.chunk(2, -1)
    even, odd = x.chunk(2, -1)
    return torch.cat([even * cos - odd * sin, even * sin + odd * cos], -1)
