"""Click probability: pooled item embeddings beside the group signals."""

import torch
from torch import nn


class ClickRanker(nn.Module):
    def __init__(self, groups=40, buckets=30_000, dim=16, width=192):
        super().__init__()
        self.items = nn.EmbeddingBag(buckets, dim, mode="mean", sparse=True)
        self.tower = nn.Sequential(
            nn.Linear(groups + dim, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, signals, items):
        return self.tower(torch.cat([signals, self.items(items)], dim=1)).squeeze(1)
