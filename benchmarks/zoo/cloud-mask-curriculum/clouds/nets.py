import torch
from torch import nn


class MaskNet(nn.Sequential):
    def __init__(self, bands=4, width=12):
        super().__init__(
            nn.Conv2d(bands, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 1, 1),
        )


class TextureScorer(nn.Module):
    """Tells how hard a tile is; came from an earlier project."""

    def __init__(self, bands=4, size=32, width=192):
        super().__init__()
        self.flat = nn.Linear(bands * size * size, width)
        self.out = nn.Linear(width, 1)

    def forward(self, tiles):
        return self.out(torch.tanh(self.flat(tiles.flatten(1)))).squeeze(-1)
