import torch
from recovery import ReportGap
from torch import nn
from torch.nn import functional as F


class ArrivalNet(nn.Module):
    """Minutes until arrival at each of the next stops, and how sure that is."""

    def __init__(self, positions=90, width=192, stops=12):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(positions, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.minutes = nn.Linear(width, stops)
        self.certainty = nn.Linear(width, stops)

    def forward(self, positions):
        hidden = self.body(positions)
        return self.minutes(hidden), F.softplus(self.certainty(hidden)) + 0.05


def clean(positions, most_missing=0.25):
    missing = positions.isnan()
    filled = torch.where(missing, torch.zeros_like(positions), positions)
    share = missing.float().mean().item()
    if share > most_missing:
        raise ReportGap(f"{share:.0%} of positions missing")
    return filled


def reports(batch=96, positions=90, stops=12, seed=271):
    """Every other batch has gaps."""
    g = torch.Generator().manual_seed(seed)
    route = torch.randn(positions, stops, generator=g) / positions**0.5
    number = 0
    while True:
        values = torch.randn(batch, positions, generator=g)
        minutes = 5 + values @ route
        gaps = torch.rand(batch, positions, generator=g) < (0.4 if number % 2 == 0 else 0.05)
        yield values.masked_fill(gaps, float("nan")), minutes
        number += 1
