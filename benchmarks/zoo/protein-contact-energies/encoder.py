import math
from typing import NamedTuple

import torch
from torch import nn


class Encoded(NamedTuple):
    residues: torch.Tensor
    energies: tuple


class ResidueAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, padding):
        b, n, _ = x.shape
        q, k, v = self.project(self.norm(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        energy = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        weights = energy.masked_fill(padding[:, None, None], float("-inf")).softmax(-1)
        mixed = (weights @ v).transpose(1, 2).reshape(b, n, -1)
        return x + self.out(mixed), energy


class FeedForward(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return x + super().forward(x)


class ProteinEncoder(nn.Module):
    def __init__(self, alphabet=24, width=48, heads=4, depth=4, longest=96):
        super().__init__()
        self.tokens = nn.Embedding(alphabet, width, padding_idx=0)
        self.places = nn.Parameter(0.02 * torch.randn(longest, width))
        self.attentions = nn.ModuleList(ResidueAttention(width, heads) for _ in range(depth))
        self.feeds = nn.ModuleList(FeedForward(width) for _ in range(depth))

    def forward(self, tokens):
        padding = tokens == 0
        x = self.tokens(tokens) + self.places[: tokens.size(1)]
        energies = ()
        for attention, feed in zip(self.attentions, self.feeds):
            x, energy = attention(x, padding)
            energies += (energy,)
            x = feed(x)
        return Encoded(x, energies)
