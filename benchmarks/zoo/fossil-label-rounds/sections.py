import torch
from torch import nn


class SectionNet(nn.Sequential):
    def __init__(self, size=24, width=128, taxa=9):
        super().__init__(
            nn.Flatten(), nn.Linear(size * size, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, taxa),
        )


class Drawer:
    """The unlabelled drawer, and an expert who labels what one hands over."""

    def __init__(self, count=400, size=24, taxa=9, seed=5):
        gen = torch.Generator().manual_seed(seed)
        self.taxon = torch.randint(taxa, (count,), generator=gen)
        shape = torch.randn(taxa, size, size, generator=gen)
        self.images = shape[self.taxon] + 1.5 * torch.randn(count, size, size, generator=gen)
        self.open = torch.ones(count, dtype=torch.bool)

    def label(self, picked):
        self.open[picked] = False

    def labelled(self):
        return self.images[~self.open], self.taxon[~self.open]
