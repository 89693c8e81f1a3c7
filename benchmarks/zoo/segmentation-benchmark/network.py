import torch
from torch import nn


class ConvUnit(nn.Sequential):
    def __init__(self, inside, outside, stride=1):
        super().__init__(nn.Conv2d(inside, outside, 3, stride, 1), nn.BatchNorm2d(outside), nn.ReLU(inplace=True))


class LandCover(nn.Module):
    """Returns a mask and an auxiliary mask at full size, as the loss of training wants them."""

    def __init__(self, classes=12, width=12):
        super().__init__()
        self.down = nn.Sequential(ConvUnit(4, width, 2), ConvUnit(width, width), ConvUnit(width, width))
        self.main_head = nn.Conv2d(width, classes, 1)
        self.aux_head = nn.Conv2d(width, classes, 1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, tile):
        shared = self.down(tile)
        return {"out": self.up(self.main_head(shared)), "aux": self.up(self.aux_head(shared))}


class Tiles:
    def __init__(self, count=40, batch=2, size=96, classes=12):
        self.count, self.shape, self.classes = count, (batch, size, size), classes

    def __iter__(self):
        generator = torch.Generator().manual_seed(31)
        batch, size, _ = self.shape
        for _ in range(self.count):
            tile = torch.randn(batch, 4, size, size, generator=generator)
            yield tile, torch.randint(self.classes, self.shape, generator=generator)
