import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=24, condition=160):
        super().__init__()
        self.inp = nn.Conv2d(4, width, 3, padding=1)
        self.film = nn.Linear(condition + 1, 2 * width)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x, t, c):
        scale, shift = self.film(torch.cat([c, t[:, None]], 1))[:, :, None, None].chunk(2, 1)
        h = torch.nn.functional.silu(self.inp(x)) * (1 + scale) + shift
        return self.out(torch.nn.functional.silu(self.mid(h)) + h)


def add_noise(x, t):
    noise = torch.randn_like(x)
    alpha = torch.cos(t * 1.5708)[:, None, None, None]
    return alpha * x + (1 - alpha**2).sqrt() * noise, noise
