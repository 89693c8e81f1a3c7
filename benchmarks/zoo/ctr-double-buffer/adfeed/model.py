"""Two-tower click model."""

import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, signals=400, vocabulary=20_000, dim=24, width=128):
        super().__init__()
        self.user = nn.Sequential(nn.Linear(signals, width), nn.ReLU(), nn.Linear(width, dim))
        self.ads = nn.EmbeddingBag(vocabulary, dim, mode="mean")
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, signals, ads):
        user = self.user(signals)
        return (user * self.ads(ads)).sum(1) + user[:, 0] + self.bias
