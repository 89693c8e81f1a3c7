import math

import torch
from torch import nn


class SpectrogramAutoencoder(nn.Module):
    """Background model of a harbour's hydrophones; ships show as what it cannot explain."""

    def __init__(self, bins=48, frames=48, width=96):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(bins, width), nn.ReLU(), nn.Linear(width, 12))
        self.up = nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Linear(width, bins))

    def forward(self, spectrogram):
        return self.up(self.down(spectrogram))


def recordings(count, batch=20, bins=48, frames=48, seed=191):
    g = torch.Generator().manual_seed(seed)
    pitch = torch.arange(bins)
    for _ in range(count):
        hum = torch.rand(batch, 1, 1, generator=g) * 20
        swell = torch.sin(torch.arange(frames) * math.tau / 24 + hum.squeeze(2)).unsqueeze(2)
        yield torch.exp(-((pitch - 20 - hum) ** 2) / 30) * (1 + 0.3 * swell) + 0.1 * torch.randn(
            batch, frames, bins, generator=g
        )
