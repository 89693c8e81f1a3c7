import torch
from torch import nn


class FirstStage(nn.Module):
    """Images of 32 by 32 to latents of 4 by 8 by 8, and back."""

    def __init__(self, width=96, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1),
            nn.SiLU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1),
            nn.SiLU(),
            nn.Conv2d(2 * width, 2 * width, 3, 1, 1),
            nn.SiLU(),
            nn.Conv2d(2 * width, 2 * latent, 1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(latent, 2 * width, 3, 1, 1),
            nn.SiLU(),
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1),
            nn.SiLU(),
            nn.ConvTranspose2d(width, 3, 4, 2, 1),
        )

    def encode(self, images):
        mean, spread = self.encoder(images).chunk(2, 1)
        return mean + torch.randn_like(mean) * (0.5 * spread).exp()

    def decode(self, latents):
        return self.decoder(latents).sigmoid()

    def forward(self, images):
        return self.decode(self.encode(images))
