import torch
from torch import nn


class Velocity(nn.Module):
    def __init__(self, latent=4, width=64):
        super().__init__()
        self.into = nn.Conv2d(latent + 1, width, 3, 1, 1)
        self.body = nn.Sequential(
            nn.SiLU(), nn.Conv2d(width, width, 3, 1, 1), nn.SiLU(), nn.Conv2d(width, width, 3, 1, 1)
        )
        self.out = nn.Sequential(nn.SiLU(), nn.Conv2d(width, latent, 3, 1, 1))

    def forward(self, x, time):
        x = self.into(torch.cat([x, time.expand(-1, 1, *x.shape[2:])], 1))
        return self.out(x + self.body(x))


class LatentFlow(nn.Module):
    """Rectified flow in the latent space of a frozen first stage."""

    def __init__(self, first_stage):
        super().__init__()
        self.first_stage = first_stage.eval().requires_grad_(False)
        self.velocity = Velocity()
        self.register_buffer("scale", torch.ones(()))

    @torch.no_grad()
    def prepare(self, images, chunk=32):
        """Latents of the whole survey, scaled to unit variance."""
        latents = torch.cat([self.first_stage.encode(part) for part in images.split(chunk)])
        self.scale.copy_(1 / latents.std())
        return latents * self.scale

    def forward(self, latents):
        noise = torch.randn_like(latents)
        time = torch.rand(len(latents), 1, 1, 1)
        guess = self.velocity((1 - time) * noise + time * latents, time)
        return (guess - (latents - noise)).square().mean()

    @torch.no_grad()
    def straightness(self, latents, steps=4):
        x = torch.randn_like(latents)
        moves = []
        for number in range(steps):
            moves.append(self.velocity(x, torch.full((len(x), 1, 1, 1), number / steps)))
            x = x + moves[-1] / steps
        return torch.stack(moves).std(0).mean().item()
