from collections import defaultdict

import torch
from torch import nn


class TileEncoder(nn.Module):
    def __init__(self, width=16, code=32):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, code, 3, 2, 1), nn.ReLU())

    def forward(self, tiles):
        return self.net(tiles).mean((2, 3))


class AttentionPool(nn.Module):
    def __init__(self, code=32, grades=3):
        super().__init__()
        self.weigh = nn.Sequential(nn.Linear(code, 16), nn.Tanh(), nn.Linear(16, 1))
        self.grade = nn.Linear(code, grades)

    def forward(self, bag):
        return self.grade((self.weigh(bag).softmax(0) * bag).sum(0, keepdim=True))


class BagBook:
    """Codes of the tiles seen so far, slide by slide."""

    def __init__(self, capacity=6):
        self.capacity = capacity
        self.pages = defaultdict(list)

    def add(self, slide, codes):
        self.pages[slide] += [codes]

    def bag(self, slide):
        return torch.cat(self.pages[slide][-self.capacity :]).detach()


def scanned(steps, slides=4, tiles=12, side=32):
    generator = torch.Generator().manual_seed(1)
    for step in range(steps):
        slide = step % slides
        yield f"S{slide:02d}", slide % 3, torch.rand(tiles, 3, side, side, generator=generator) + slide % 3 / 10
