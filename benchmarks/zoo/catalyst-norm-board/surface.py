import torch
from torch import nn


class AdsorptionNet(nn.Module):
    """Adsorption energy from descriptors of a surface site, with many thin residual layers."""

    def __init__(self, descriptors=32, width=48, depth=20):
        super().__init__()
        self.enter = nn.Linear(descriptors, width)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
            for _ in range(depth)
        )
        self.leave = nn.Linear(width, 1)

    def forward(self, sites):
        hidden = self.enter(sites)
        for layer in self.layers:
            hidden = hidden + 0.3 * layer(hidden)
        return self.leave(hidden).squeeze(-1)


def sites(batches, batch=64, descriptors=32, seed=121):
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(descriptors, generator=generator)
    for _ in range(batches):
        values = torch.randn(batch, descriptors, generator=generator)
        yield values, torch.tanh(values @ direction / 4)
