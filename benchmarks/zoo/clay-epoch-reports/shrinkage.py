from __future__ import annotations

import torch
from framework import Module
from reporting import EpochReport
from torch import Tensor, nn


class Shrinkage(EpochReport, Module):
    """Shrinkage along the wall of a pot while it dries and is fired."""

    def __init__(self, recipe: int = 24, heights: int = 128, width: int = 128) -> None:
        super().__init__()
        self.network = nn.Sequential(nn.Linear(recipe, width), nn.SiLU(), nn.Linear(width, heights))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=4e-3)

    def training_step(self, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        recipe, profile = batch
        predicted = self.network(recipe)
        loss = nn.functional.smooth_l1_loss(predicted, profile, beta=0.1)
        return {"loss": loss, "predicted": predicted.detach(), "actual": profile}


def pots(batches: int = 12, batch: int = 120, recipe: int = 24, heights: int = 128) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(281)
    response = torch.randn(recipe, heights, generator=generator).cumsum(1) / heights**0.5
    recipes = torch.randn(batches, batch, recipe, generator=generator)
    return [(part, torch.tanh(part @ response / recipe**0.5)) for part in recipes]
