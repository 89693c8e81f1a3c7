"""Latent denoiser for galaxy cut-outs: latents are stored once, previews are decoded as it learns."""

import torch
import torch.nn.functional as F

from galaxies.denoiser import LatentDenoiser
from galaxies.preview import Previewer
from galaxies.vae import CutoutVAE


def cutouts(count, size=64, seed=70):
    gen = torch.Generator().manual_seed(seed)
    axis = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    stretch = torch.rand(count, 2, 1, 1, generator=gen).mul(20).add(3)
    light = torch.exp(-(x.square() * stretch[:, 0] + y.square() * stretch[:, 1]))
    tint = torch.rand(count, 3, 1, 1, generator=gen)
    return light.unsqueeze(1) * tint


class GalaxyTraining:
    def __init__(self, vae):
        self.net = LatentDenoiser()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.gen = torch.Generator().manual_seed(33)
        images = cutouts(96)
        with torch.no_grad():
            self.latents = torch.cat([vae(part) for part in images.split(32)])
        self.latents /= self.latents.std()
        self.preview = Previewer(vae, images)

    def step(self, number):
        pick = torch.randint(len(self.latents), (16,), generator=self.gen)
        clean = self.latents[pick]
        sigma = torch.rand(16, generator=self.gen)
        noise = torch.randn(clean.shape, generator=self.gen)
        loss = F.mse_loss(self.net(clean + sigma.view(-1, 1, 1, 1) * noise, sigma), noise)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.preview.maybe(number, self.net, clean.shape[1:], self.gen)
        return loss.item()


def main():
    torch.manual_seed(16)
    training = GalaxyTraining(CutoutVAE().eval().requires_grad_(False))
    for number in range(1, 31):
        loss = training.step(number)
        if number % 6 == 0:
            print(f"step {number}: loss {loss:.3f}, preview off by {training.preview.scores[-1]:.3f}")


if __name__ == "__main__":
    main()
