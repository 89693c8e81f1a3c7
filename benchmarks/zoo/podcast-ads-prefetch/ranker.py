import torch
from torch import nn


class DeepCross(nn.Module):
    """Embeddings and squashed counters, one crossing of the two, a small tower on top."""

    def __init__(self, table_size=5000, width=8, slots=9, counters=112):
        super().__init__()
        self.table = nn.Embedding(table_size, width)
        self.bottom = nn.Sequential(nn.Linear(counters, 48), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(48 + slots * width, 40), nn.ReLU(), nn.Linear(40, 1))

    def forward(self, counters, buckets):
        features = torch.cat((self.bottom(counters), self.table(buckets).flatten(1)), 1)
        return self.top(features).squeeze(1)
