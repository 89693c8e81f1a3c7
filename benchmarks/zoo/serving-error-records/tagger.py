import torch
from torch import nn


class PageTagger(nn.Module):
    """The kind of each of the lines of a scanned page."""

    def __init__(self, pixels=256, width=64, kinds=12):
        super().__init__()
        self.line = nn.Sequential(nn.Linear(pixels, width), nn.ReLU())
        self.context = nn.GRU(width, width, batch_first=True)
        self.kind = nn.Linear(width, kinds)
        with torch.no_grad():
            self.kind.weight.mul_(14)

    def forward(self, pages):
        return self.kind(self.context(self.line(pages))[0])


def scanned(count, pages=4, lines=40, pixels=256):
    generator = torch.Generator().manual_seed(71)
    for number in range(count):
        contrast = 0.2 if number % 2 else 2.0
        yield contrast * torch.randn(pages, lines, pixels, generator=generator)
