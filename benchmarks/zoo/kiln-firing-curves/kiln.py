import math

import torch
from rheology import soften
from torch import nn


class FiringModel(nn.Module):
    """Gloss along the wall of a kiln from its heating curve."""

    def __init__(self, minutes=96, width=192, places=96):
        super().__init__()
        self.heat = nn.Linear(minutes, width)
        self.onset = nn.Parameter(torch.zeros(width))
        self.spread = nn.Linear(2 * width, places)

    def forward(self, curve):
        melted, flow = soften(self.heat(curve), self.onset)
        return self.spread(torch.cat([melted, flow], 1))


def evenness(model, curve, weight=0.01):
    """Gloss should not depend sharply on any one minute of the curve."""
    curve = curve.detach().requires_grad_()
    (slope,) = torch.autograd.grad(model(curve).mean(1).sum(), curve)
    return weight * slope.square().sum(1).mean().item()


def firings(count, batch=80, minutes=96, places=96, seed=311):
    g = torch.Generator().manual_seed(seed)
    clock = torch.linspace(0, 1, minutes)
    for _ in range(count):
        speed = 2 + 3 * torch.rand(batch, 1, generator=g)
        curve = torch.tanh(speed * clock) + 0.02 * torch.randn(batch, minutes, generator=g)
        where = torch.linspace(0, math.pi, places)
        yield curve, torch.sigmoid(4 * (curve.mean(1, keepdim=True) - 0.6)) * (1 + 0.2 * where.sin())
