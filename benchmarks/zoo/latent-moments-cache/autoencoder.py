from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Posterior:
    mean: torch.Tensor
    logvar: torch.Tensor
    std: torch.Tensor
    var: torch.Tensor

    @classmethod
    def of(cls, moments):
        mean, logvar = moments.chunk(2, 1)
        logvar = logvar.clamp(-30, 20)
        return cls(mean.clone(), logvar, torch.exp(0.5 * logvar), logvar.exp())

    def sample(self, generator):
        return self.mean + self.std * torch.randn(self.mean.shape, generator=generator)

    def mode(self):
        return self.mean


class Autoencoder(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.SiLU(), nn.Conv2d(16, 2 * channels, 4, 2, 1))

    def forward(self, images):
        return Posterior.of(self.encoder(images))
