import torch
from torch import nn


class Preconditioned(nn.Module):
    def __init__(self, planes, channels=3, width=20, data_sigma=0.5):
        super().__init__()
        self.planes = planes
        self.data_sigma = data_sigma
        self.net = nn.Sequential(
            nn.Conv2d(channels + planes.planes, width, 3, padding=1), nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.SiLU(),
            nn.Conv2d(width, channels, 3, padding=1),
        )

    def forward(self, x, sigma):
        s, d = sigma[:, None, None, None], self.data_sigma
        norm = (s**2 + d**2).sqrt()
        skip, out, inp = d**2 / norm**2, s * d / norm, 1 / norm
        return skip * x + out * self.net(torch.cat([inp * x, self.planes(sigma)], 1))
