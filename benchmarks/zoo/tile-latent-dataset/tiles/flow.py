"""Rectified flow on latents."""

import torch
from torch import nn
import torch.nn.functional as F


class FlowNet(nn.Module):
    def __init__(self, latent=8, width=64):
        super().__init__()
        self.time = nn.Linear(1, width)
        self.inp = nn.Conv2d(latent, width, 3, padding=1)
        self.body = nn.Sequential(
            nn.GroupNorm(8, width),
            nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.GroupNorm(8, width),
            nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )
        self.out = nn.Conv2d(width, latent, 3, padding=1)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t.view(-1, 1))[:, :, None, None]
        return self.out(h + self.body(h))


def flow_loss(net, clean, gen):
    t = torch.rand(len(clean), generator=gen)
    noise = torch.randn(clean.shape, generator=gen)
    mixed = torch.lerp(noise, clean, t.view(-1, 1, 1, 1))
    return F.mse_loss(net(mixed, t), clean - noise)
