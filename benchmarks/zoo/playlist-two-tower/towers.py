import torch
from torch import nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, vocabulary, width=32):
        super().__init__()
        self.table = nn.EmbeddingBag(vocabulary, width, mode="mean")
        self.lift = nn.Linear(width, width)

    def forward(self, ids):
        return F.normalize(self.lift(torch.relu(self.table(ids))), dim=-1)


class TwoTowers(nn.Module):
    def __init__(self, tracks=600, tags=80):
        super().__init__()
        self.playlist = Tower(tracks)
        self.track = Tower(tags)
        self.scale = nn.Parameter(torch.tensor(8.0))

    def forward(self, history, tags):
        return self.scale * self.playlist(history) @ self.track(tags).T
