from dataclasses import dataclass

import torch
from torch import nn


class Vae(nn.Module):
    def __init__(self, channels=160):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(3, channels, 4, stride=4), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1), nn.SiLU()
        )
        self.to_latent = nn.Conv2d(channels, 4, 1)
        self.up = nn.Sequential(nn.Conv2d(4, channels, 1), nn.SiLU(), nn.ConvTranspose2d(channels, 3, 4, stride=4))

    def forward(self, images):
        return self.to_latent(self.down(images))


class Denoiser(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.time = nn.Linear(1, channels)
        self.enter, self.leave = nn.Conv2d(4, channels, 3, padding=1), nn.Conv2d(channels, 4, 3, padding=1)

    def forward(self, x, t):
        return self.leave(torch.tanh(self.enter(x) + self.time(t)[:, :, None, None]))


@dataclass
class Components:
    vae: Vae
    denoiser: Denoiser

    @classmethod
    def load(cls):
        return cls(vae=Vae().eval().requires_grad_(False), denoiser=Denoiser())
