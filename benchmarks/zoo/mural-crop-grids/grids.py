"""Fourier features of pixel positions, for crops of any size."""

import math

import torch


class GridTable(dict):
    """Looks like a dictionary from (height, width) to features."""

    def __init__(self, bands=8):
        super().__init__()
        self.frequencies = math.pi * 2.0 ** torch.arange(bands).div(2)

    def build(self, height, width):
        rows = torch.linspace(-1, 1, height)[:, None, None] * self.frequencies
        columns = torch.linspace(-1, 1, width)[None, :, None] * self.frequencies
        shape = (height, width, len(self.frequencies))
        parts = [rows.sin().expand(shape), rows.cos().expand(shape)]
        parts += [columns.sin().expand(shape), columns.cos().expand(shape)]
        return torch.cat(parts, -1)

    def __missing__(self, size):
        grid = self[size] = self.build(*size)
        return grid
