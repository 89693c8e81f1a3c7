"""Autoencoder of galaxy cut-outs."""

from torch import nn


class CutoutVAE(nn.Module):
    def __init__(self, bands=3, width=192, latent=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(bands, width, 4, stride=4),
            nn.SiLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(2 * width, 2 * latent, 3, padding=1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(latent, 2 * width, 3, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(width, bands, 4, stride=4),
        )

    def forward(self, images):
        mean, _ = self.encoder(images).chunk(2, dim=1)
        return mean

    def decode(self, latents):
        return self.decoder(latents)
