"""Latent denoiser."""

import torch
from torch import nn


class LatentDenoiser(nn.Module):
    def __init__(self, latent=6, width=72):
        super().__init__()
        self.level = nn.Linear(1, width)
        self.inp = nn.Conv2d(latent, width, 3, padding=1)
        self.mid1 = nn.Conv2d(width, width, 3, padding=1)
        self.mid2 = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, latent, 3, padding=1)

    def forward(self, x, sigma):
        h = self.inp(x) + self.level(sigma.view(-1, 1))[:, :, None, None]
        h = h + torch.relu(self.mid1(torch.relu(h)))
        return self.out(h + torch.relu(self.mid2(h)))
