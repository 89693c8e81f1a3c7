"""A toy limit order book that many quoting agents face at once."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Rollout(NamedTuple):
    observations: torch.Tensor
    actions: torch.Tensor
    returns: torch.Tensor


class OrderBook:
    def __init__(self, desks: int = 256, features: int = 16, quotes: int = 64, seed: int = 11) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.features = features
        self.desks = desks
        self.fair = torch.randn(features, quotes, generator=self.generator) / features**0.5

    def observe(self) -> torch.Tensor:
        return torch.randn(self.desks, self.features, generator=self.generator)

    def settle(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Profit of the quote that each desk chose."""
        profit = (observations @ self.fair).gather(1, actions[:, None]).squeeze(1)
        return profit + 0.05 * torch.randn(self.desks, generator=self.generator)
