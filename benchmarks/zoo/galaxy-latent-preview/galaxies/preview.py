"""Decodes what the denoiser makes of noise, every few steps, and scores it in pixel space."""

import torch


class Previewer:
    def __init__(self, vae, reference, every=3, count=4):
        self.vae = vae
        self.every = every
        self.count = count
        self.level = reference.mean(dim=(0, 2, 3))
        self.scores = []

    @torch.no_grad()
    def maybe(self, step, net, shape, gen):
        if step % self.every:
            return
        x = torch.randn(self.count, *shape, generator=gen)
        for sigma in (1.0, 0.6, 0.3):
            x = x - 0.4 * net(x, torch.full((self.count,), sigma))
        pixels = self.vae.decode(x)
        colour = (pixels.mean(dim=(0, 2, 3)) - self.level).abs().sum()
        again = (self.vae(pixels) - x).square().mean()
        self.scores.append((colour + again).item())
