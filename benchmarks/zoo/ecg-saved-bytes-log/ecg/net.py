"""Rhythm classifier and its signals."""

import torch
from torch import nn
import torch.nn.functional as F


class RhythmNet(nn.Module):
    def __init__(self, leads=12, width=48, rhythms=5):
        super().__init__()
        self.inp = nn.Conv1d(leads, width, 15, stride=2, padding=7)
        self.mid = nn.Conv1d(width, width, 9, padding=4)
        self.deep = nn.Conv1d(width, width, 9, stride=2, padding=4)
        self.out = nn.Linear(width, rhythms)

    def forward(self, x):
        x = F.gelu(self.inp(x))
        x = x + F.gelu(self.mid(x))
        return self.out(F.gelu(self.deep(x)).mean(dim=2))


class Recordings:
    def __init__(self, seed, leads=12, length=1000, rhythms=5):
        self.gen = torch.Generator().manual_seed(seed)
        self.rhythms = rhythms
        self.gain = torch.randn(leads, 1, generator=self.gen)
        self.time = torch.linspace(0, 10, length)

    def draw(self, count):
        rhythm = torch.randint(self.rhythms, (count,), generator=self.gen)
        wave = torch.sin(self.time * (4 + 2 * rhythm[:, None]))
        noise = torch.randn(count, len(self.gain), len(self.time), generator=self.gen)
        return wave.unsqueeze(1) * self.gain + 0.5 * noise, rhythm
