import torch
from torch import nn


class LowRank(nn.Module):
    def __init__(self, width, rank=32):
        super().__init__()
        self.down = nn.Parameter(torch.randn(width, rank) / width**0.5)
        self.up = nn.Parameter(torch.zeros(rank, width))

    def forward(self, x):
        return x @ self.down @ self.up


class Adapted(nn.Module):
    """A frozen layer and, while one is in place, a small trainable one beside it."""

    def __init__(self, width):
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(False)
        self.beside = None

    def forward(self, x):
        y = self.base(x)
        return torch.tanh(y if self.beside is None else y + self.beside(x))


class Host(nn.Module):
    def __init__(self, letters=40, width=192, depth=2):
        super().__init__()
        self.letters = nn.Embedding(letters, width).requires_grad_(False)
        self.layers = nn.ModuleList(Adapted(width) for _ in range(depth))

    def forward(self, text):
        x = self.letters(text)
        for layer in self.layers:
            x = layer(x + x.roll(1, 1))
        return x @ self.letters.weight.T
