"""Quantile forecaster for store-level demand."""

import torch
from torch import Tensor, nn

LEVELS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)


class QuantileForecaster(nn.Module):
    """Maps 56 days of history to 48 days of quantiles."""

    def __init__(self, past: int = 56, ahead: int = 48, width: int = 128, levels: tuple[float, ...] = LEVELS) -> None:
        super().__init__()
        self.ahead = ahead
        self.register_buffer("levels", torch.tensor(levels))
        self.encoder = nn.Sequential(nn.Linear(past, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.decoder = nn.Linear(width, ahead * len(levels))

    def forward(self, history: Tensor) -> Tensor:
        return self.decoder(self.encoder(history)).unflatten(-1, (self.ahead, -1))


def pinball(error: Tensor, levels: Tensor) -> Tensor:
    return torch.maximum(levels * error, (levels - 1) * error).mean()


def crossing(quantiles: Tensor) -> Tensor:
    """Penalty on neighbouring quantiles in the wrong order."""
    return (quantiles[..., :-1] - quantiles[..., 1:]).clamp_min(0).mean()


def coverage_gap(error: Tensor, levels: Tensor, sharpness: float = 8.0) -> Tensor:
    """How far the share of days below each quantile is from its nominal level."""
    below = torch.sigmoid(-sharpness * error).mean((0, 1))
    return (below - levels).abs().mean()
