import torch
from torch import nn
from torch.nn import functional


class Denoiser(nn.Module):
    """Guesses the noise in a stack of latent rain maps, given the coarse forecast."""

    def __init__(self, channels=8, width=14):
        super().__init__()
        self.time = nn.Linear(2, width)
        self.enter = nn.Conv2d(channels + 1, width, 3, padding=1)
        self.mix = nn.Conv2d(width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, latents, moment, coarse):
        when = self.time(torch.stack((moment.sin(), moment.cos())))
        hidden = self.enter(torch.cat((latents, coarse.expand(latents.size(0), -1, -1, -1)), 1))
        hidden = functional.silu(hidden + when[:, None, None], inplace=True)
        return self.leave(functional.silu(self.mix(hidden), inplace=True))


class RainDecoder(nn.Module):
    def __init__(self, channels=8, width=20, zoom=4):
        super().__init__()
        self.zoom = zoom
        self.enter = nn.Conv2d(channels, width, 3, padding=1)
        self.smooth = nn.Conv2d(width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 1, 1)

    def forward(self, latents):
        hidden = functional.interpolate(self.enter(latents), scale_factor=self.zoom)
        return functional.softplus(self.leave(functional.silu(self.smooth(hidden), inplace=True)))
