import torch
from torch import nn


class GlazeCoder(nn.Module):
    def __init__(self, pixels=1024, width=768, latent=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, width), nn.SiLU(), nn.Linear(width, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.SiLU(), nn.Linear(width, pixels))

    def encode(self, images):
        mean, spread = self.encoder(images).chunk(2, dim=-1)
        return mean + spread.tanh() * torch.randn_like(mean)

    def forward(self, images):
        return self.decoder(self.encode(images))


class GlazeDenoiser(nn.Module):
    def __init__(self, latent=32, width=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(latent + 1, width), nn.SiLU(), nn.Linear(width, latent))

    def forward(self, noisy, level):
        return self.body(torch.cat([noisy, level], dim=-1))
