import torch


class Kites:
    """Pictures by class; `latents` are made once by the given autoencoder."""

    def __init__(self, vae, n=64, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.vae = vae.eval().requires_grad_(False)
        self.kind = torch.randint(6, (n,), generator=g)
        self.pictures = torch.rand(n, 3, 32, 32, generator=g)
        self.latents = None

    @torch.no_grad()
    def prepare(self, size=16):
        rows = []
        for x in self.pictures.split(size):
            mean, std = self.vae.moments(x * 2 - 1)
            rows.append(mean + std * torch.randn_like(std))
        self.latents = torch.cat(rows)
        self.latents /= self.latents.std()
        self.pictures = None

    def batches(self, size):
        for i in torch.randperm(len(self.kind)).split(size):
            yield self.latents[i], self.kind[i]
