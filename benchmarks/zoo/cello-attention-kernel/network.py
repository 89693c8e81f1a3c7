import torch
from functional import bowed_attention
from torch import nn


class Desk(nn.Module):
    """One transformer layer over the frames of a phrase."""

    def __init__(self, dim, heads, attend):
        super().__init__()
        self.heads, self.attend = heads, attend
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, bias):
        batch, frames, dim = x.shape
        parts = self.qkv(self.norm(x)).view(batch, frames, 3, self.heads, dim // self.heads)
        q, k, v = (part.transpose(1, 2).flatten(0, 1) for part in parts.unbind(2))
        mixed, _ = self.attend(q, k, v, bias)
        mixed = mixed.unflatten(0, (batch, self.heads)).transpose(1, 2).flatten(2)
        return x + self.out(mixed)


class BowingTagger(nn.Module):
    def __init__(self, mels=40, dim=64, heads=4, layers=2, strokes=9, attend=bowed_attention):
        super().__init__()
        self.embed = nn.Linear(mels, dim)
        self.desks = nn.ModuleList([Desk(dim, heads, attend) for _ in range(layers)])
        self.head = nn.Linear(dim, strokes)

    def forward(self, mels):
        frames = torch.arange(mels.shape[1])
        bias = -0.05 * (frames[:, None] - frames).abs().float()
        x = self.embed(mels)
        for desk in self.desks:
            x = desk(x, bias.expand(mels.shape[0] * desk.heads, -1, -1))
        return self.head(x)
