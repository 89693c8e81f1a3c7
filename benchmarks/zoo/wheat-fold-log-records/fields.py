import torch


class Plots:
    """Reflectance over the season and the yield of each plot, split into blocks of neighbours."""

    def __init__(self, count=400, bands=128, folds=16, seed=91):
        generator = torch.Generator().manual_seed(seed)
        self.x = torch.randn(count, bands, generator=generator)
        self.y = self.x @ torch.randn(bands, 1, generator=generator) / bands**0.5
        self.block = torch.arange(count) * folds // count
        self.folds = folds

    def fold(self, number):
        held = self.block == number
        return (self.x[~held], self.y[~held]), (self.x[held], self.y[held])
