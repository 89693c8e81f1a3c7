"""What the current step works on, for whoever wants to write about it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Fitting:
    step: int
    sketches: torch.Tensor
    verdict: torch.Tensor


current: ContextVar[Fitting] = ContextVar("current")


def enter(step: int, sketches: torch.Tensor, verdict: torch.Tensor) -> None:
    current.set(Fitting(step, sketches, verdict))


def leave() -> None:
    """The step is over."""


def ink() -> float:
    """Share of dark pixels of what the generator drew."""
    return (current.get().sketches > 0).float().mean().item()
