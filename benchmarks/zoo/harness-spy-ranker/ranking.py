import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.query = nn.Linear(64, width)
        self.item = nn.Linear(64, width)

    def forward(self, query, items):
        return torch.einsum("bd,bnd->bn", self.query(query), torch.tanh(self.item(items)))


class Losses:
    def __init__(self, margin=0.3):
        self.margin = margin

    def pairwise(self, scores, items, relevance):
        gap = scores[:, :, None] - scores[:, None, :]
        better = (relevance[:, :, None] > relevance[:, None, :]).float()
        spread = items.var(1).mean()
        return (better * torch.relu(self.margin - gap)).sum() / better.sum() + 0 * spread

    def listwise(self, scores, items, relevance):
        return -(relevance.softmax(1) * scores.log_softmax(1)).sum(1).mean()
