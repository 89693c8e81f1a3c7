import torch
import torch.nn.functional as F

from .denoiser import Denoiser


class Process:
    def __init__(self, fingerprints, seed=36):
        self.net = Denoiser()
        self.fingerprints = fingerprints
        self.gen = torch.Generator().manual_seed(seed)
        self.keep = torch.cumprod(1 - torch.linspace(1e-4, 0.06, self.net.levels), 0)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.repeats = 0

    def noise_for(self, clean):
        noise = torch.randn(clean.shape, generator=self.gen)
        self.repeats += self.fingerprints.repeated(noise)
        return noise

    def step(self, clean):
        level = torch.randint(self.net.levels, (len(clean),), generator=self.gen)
        kept = self.keep[level][:, None, None, None]
        noise = self.noise_for(clean)
        guess = self.net(kept.sqrt() * clean + (1 - kept).sqrt() * noise, level)
        loss = F.mse_loss(guess, noise)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
