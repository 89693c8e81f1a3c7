import torch
from torch import nn


class Compartments(nn.Module):
    """Rates of change of the drug in six compartments, part known and part learned."""

    def __init__(self, width=96, compartments=6):
        super().__init__()
        inner = [nn.Linear(compartments + 1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()]
        self.learned = nn.Sequential(*inner, nn.Linear(width, compartments))

    def forward(self, amount, clearance):
        return self.learned(torch.cat([amount, clearance], 1)) * 0.1 - clearance * amount


def cohorts(size=128, compartments=6, horizon=4.0, seed=71):
    """Doses, clearances and what was measured at the end; in some cohorts one patient clears very fast."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        dose = torch.rand(size, compartments, generator=generator)
        clearance = 0.2 + torch.rand(size, 1, generator=generator)
        if torch.rand((), generator=generator) < 0.6:
            clearance[0] = 10.0 + 4 * torch.rand((), generator=generator)
        measured = dose * (-clearance * horizon).exp() + 0.01 * torch.randn(size, compartments, generator=generator)
        yield dose, clearance, measured
