"""Next-item model over thumbnail codes."""

import torch
from torch import nn


class ThumbCodec:
    """Frozen random projection of thumbnails to short codes."""

    def __init__(self, pixels, code=48, seed=9):
        gen = torch.Generator().manual_seed(seed)
        self.table = torch.randn(pixels, code, generator=gen) / pixels**0.5
        self.shift = self.table.sum(0) / 2

    @torch.no_grad()
    def encode(self, snapshots):
        return snapshots.flatten(2) @ self.table - self.shift


class NextItem(nn.Module):
    def __init__(self, code=48, width=288, items=400):
        super().__init__()
        self.gru = nn.GRU(code, width, batch_first=True)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.GELU())
        self.out = nn.Linear(width, items)

    def forward(self, codes):
        states, _ = self.gru(codes)
        return self.out(self.mix(states[:, -1]) + states.mean(dim=1))
