"""Promoter windows and the convolutional binding model."""

import torch
from torch import nn


class PromoterWindows:
    def __init__(self, seed, length=1200):
        self.gen = torch.Generator().manual_seed(seed)
        self.length = length
        self.motif = torch.tensor([0, 1, 3, 3, 2, 0, 1, 2])

    def batch(self, size):
        bases = torch.randint(4, (size, self.length), generator=self.gen)
        bound = torch.rand(size, generator=self.gen) < 0.5
        start = torch.randint(self.length - 8, (size,), generator=self.gen)
        for row in bound.nonzero().flatten().tolist():
            bases[row, start[row] : start[row] + 8] = self.motif
        return nn.functional.one_hot(bases, 4).transpose(1, 2).float(), bound.float()


class BindingNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.motifs = nn.Conv1d(4, width, 11, padding=5)
        self.mix = nn.Conv1d(width, width, 5, padding=4, dilation=2)
        self.context = nn.Conv1d(width, width, 5, padding=8, dilation=4)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.motifs(x))
        x = torch.relu(self.mix(x)) + x
        x = torch.relu(self.context(x)) + x
        return self.head(x.amax(dim=2)).squeeze(1)
