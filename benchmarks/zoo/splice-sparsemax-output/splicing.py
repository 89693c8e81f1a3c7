import math

import torch
from sparsemax import Sparsemax
from torch import nn
from torch.nn import functional


class SparseAttention(nn.Module):
    def __init__(self, width, heads, normalizer):
        super().__init__()
        self.heads = heads
        self.inward = nn.Linear(width, 3 * width, bias=False)
        self.outward = nn.Linear(width, width, bias=False)
        self.normalizer = normalizer

    def forward(self, x):
        q, k, v = self.inward(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        weights = self.normalizer(q @ k.mT / math.sqrt(q.size(-1)))
        return self.outward((weights @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, heads, normalizer):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = SparseAttention(width, heads, normalizer)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class SpliceNet(nn.Module):
    """Donor, acceptor or neither, for every third base of a window."""

    def __init__(self, length=144, width=48, heads=4, depth=2, make_normalizer=Sparsemax):
        super().__init__()
        self.codons = nn.Linear(12, width)
        self.places = nn.Parameter(0.02 * torch.randn(length // 3, width))
        self.layers = nn.Sequential(*(Layer(width, heads, make_normalizer()) for _ in range(depth)))
        self.classes = nn.Linear(width, 3)

    def forward(self, bases):
        hidden = functional.one_hot(bases, 4).float().flatten(1).unflatten(1, (-1, 12))
        return self.classes(self.layers(self.codons(hidden) + self.places))
