import itertools
import random

import torch
from torch import nn


class ImplicitMural(nn.Module):
    """Colour at a position: a coordinate network for restoring a painted wall."""

    def __init__(self, table, width=64):
        super().__init__()
        self.table = table
        self.net = nn.Sequential(
            nn.Linear(4 * len(table.frequencies), width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 3), nn.Sigmoid(),
        )

    def forward(self, height: int, width: int):
        return self.net(self.table[height, width])


class CropSampler:
    """Every crop size between the bounds once, in random order."""

    def __init__(self, wall, smallest=36, largest=44, seed=161):
        self.wall = wall
        self.sizes = list(itertools.product(range(smallest, largest), repeat=2))
        random.Random(seed).shuffle(self.sizes)

    def __iter__(self):
        whole = self.wall.permute(2, 0, 1)[None]
        for height, width in self.sizes:
            resized = nn.functional.interpolate(whole, (height, width), mode="bilinear", antialias=True)
            yield height, width, resized[0].permute(1, 2, 0)


def painted_wall(size=96, seed=162):
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.rand(1, 3, 6, 6, generator=generator)
    return nn.functional.interpolate(coarse, (size, size), mode="bicubic").clamp(0, 1)[0].permute(1, 2, 0)
