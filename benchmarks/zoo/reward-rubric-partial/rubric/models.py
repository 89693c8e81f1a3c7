import torch
from torch import nn


class Summariser(nn.Module):
    def __init__(self, words=600, width=64):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.embedding(tokens).cumsum(1) / 8)


class RewardModel(nn.Module):
    def __init__(self, words=600, width=1400):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.value = nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, 1))

    @torch.no_grad()
    def forward(self, tokens):
        return self.value(self.embedding(tokens).mean(1)).squeeze(-1)
