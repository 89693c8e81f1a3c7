import torch
from torch import nn


def build_network(classes, pixels=144, width=160):
    return nn.Sequential(
        nn.Linear(pixels, width), nn.BatchNorm1d(width), nn.ReLU(),
        nn.Dropout(0.2), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, classes),
    )


class WingPlates:
    """Wing patterns with labels for some of them."""

    def __init__(self, samples=512, classes=160, pixels=144, labelled=0.3, seed=71):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(classes, (samples,), generator=g)
        patterns = torch.randn(classes, pixels, generator=g)
        self.plates = patterns[self.labels] + 0.5 * torch.randn(samples, pixels, generator=g)
        self.known = torch.rand(samples, generator=g) < labelled
        self.g = g

    def epoch(self, batch):
        for index in torch.randperm(len(self.labels), generator=self.g).split(batch):
            noisy = self.plates[index] + 0.1 * torch.randn(self.plates[index].shape, generator=self.g)
            yield index, noisy, self.labels[index], self.known[index]
