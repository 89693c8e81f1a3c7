"""Metrics with states that move along with the module they belong to."""

from __future__ import annotations

import abc

import torch
from torch import nn


class Metric(nn.Module, abc.ABC):
    def __init__(self) -> None:
        super().__init__()
        self.updates = 0

    def state(self, name: str, value: torch.Tensor) -> None:
        self.register_buffer(f"{name}_{self.updates}", value, persistent=False)

    def states(self, name: str) -> list[torch.Tensor]:
        return [value for key, value in self.named_buffers() if key.startswith(name)]

    def update(self, *args: torch.Tensor) -> None:
        self.measure(*args)
        self.updates += 1

    @abc.abstractmethod
    def measure(self, *args: torch.Tensor) -> None: ...

    @abc.abstractmethod
    def compute(self) -> float: ...


class LocalCountError(Metric):
    """Error of the count in cells of the slide."""

    def __init__(self, cell: int = 2) -> None:
        super().__init__()
        self.cell = cell

    def measure(self, density: torch.Tensor, wanted: torch.Tensor) -> None:
        gap = nn.functional.avg_pool2d(density - wanted, self.cell) * self.cell**2
        self.state("gap", gap.abs())

    def compute(self) -> float:
        return float(torch.stack([gap.mean() for gap in self.states("gap")]).mean())
