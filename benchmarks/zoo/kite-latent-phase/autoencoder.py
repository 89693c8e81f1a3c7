import torch
from torch import nn


class KiteVAE(nn.Module):
    """Pictures of 32x32 to four planes of 8x8 and back."""

    def __init__(self, width=224):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1), nn.SiLU(), nn.Conv2d(width, width, 4, 2, 1), nn.SiLU(), nn.Conv2d(width, 8, 1)
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(4, width, 1), nn.SiLU(), nn.ConvTranspose2d(width, width, 4, 2, 1), nn.SiLU(),
            nn.ConvTranspose2d(width, 3, 4, 2, 1),
        )

    def moments(self, x):
        mean, logvar = self.encoder(x).chunk(2, 1)
        return mean, (0.5 * logvar.clamp(-8, 4)).exp()
