"""Synthetic mineral spectra: a few labelled, many not."""

import torch


class SpectraSet:
    def __init__(self, minerals=10, bands=200, seed=111):
        self.generator = torch.Generator().manual_seed(seed)
        centres = torch.rand(minerals, 4, 1, generator=self.generator)
        grid = torch.linspace(0, 1, bands)
        self.reference = torch.exp(-((grid - centres) ** 2) / 0.002).sum(1)

    def sample(self, count):
        labels = torch.randint(len(self.reference), (count,), generator=self.generator)
        noise = 0.4 * torch.randn(count, self.reference.shape[1], generator=self.generator)
        return self.reference[labels] + noise, labels
