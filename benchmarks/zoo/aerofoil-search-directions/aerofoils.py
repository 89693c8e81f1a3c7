import torch
from torch import nn


class LiftSurrogate(nn.Module):
    """Lift, drag and moment from the control points of a section and the angle of attack."""

    def __init__(self, points=40, width=112):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(points + 1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3)
        )

    def forward(self, sections, angle):
        return self.layers(torch.cat([sections, angle], -1))


def tunnel(runs, batch=64, points=40):
    """Sections with coefficients from thin-aerofoil theory, roughly."""
    g = torch.Generator().manual_seed(151)
    chord = torch.linspace(0, 1, points)
    for _ in range(runs):
        camber = 0.1 * torch.rand(batch, 1, generator=g)
        sections = camber * (4 * chord * (1 - chord)) + 0.01 * torch.randn(batch, points, generator=g)
        angle = 0.3 * torch.rand(batch, 1, generator=g) - 0.1
        lift = 6.28 * (angle + 2 * camber)
        yield sections, angle, torch.cat([lift, 0.01 + 0.05 * lift**2, -0.25 * lift], 1)
