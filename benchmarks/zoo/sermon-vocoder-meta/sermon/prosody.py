import torch
from torch import nn


class ProsodyModel(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.read = nn.GRU(40, width, batch_first=True)
        self.contour = nn.Linear(width, 1)

    def forward(self, phones):
        hidden, _ = self.read(phones)
        return self.contour(hidden).squeeze(-1)


class Vocoder(nn.Module):
    def __init__(self, frames=40, width=900, samples=640):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(frames, width), nn.Tanh(), nn.Linear(width, samples))

    def forward(self, frames):
        return self.layers(frames).tanh()


class Readings:
    def __init__(self, seed=6):
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count=12, length=30):
        phones = torch.randn(count, length, 40, generator=self.generator)
        return phones, phones[..., :6].mean(-1).cumsum(-1) / 10
