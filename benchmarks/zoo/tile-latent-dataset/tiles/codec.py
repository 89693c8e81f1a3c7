"""Convolutional codec of satellite tiles."""

import torch
from torch import nn


class TileCodec(nn.Module):
    """VAE: four spectral bands to eight latent channels at an eighth of the size."""

    def __init__(self, bands=4, width=160, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(bands, width // 4, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(width // 4, width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(2 * width, 2 * latent, 3, padding=1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(latent, 2 * width, 3, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(width, width // 4, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(width // 4, bands, 4, stride=2, padding=1),
        )

    def forward(self, tiles):
        mean, logvar = self.encoder(tiles).chunk(2, dim=1)
        return mean, logvar

    def decode(self, latents):
        return self.decoder(latents)


def encode_fn(codec, scale):
    """A function from tiles to scaled latents."""
    codec.eval()

    @torch.no_grad()
    def encode(tiles):
        mean, _ = codec(tiles)
        return mean * scale

    return encode
