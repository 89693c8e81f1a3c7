"""Figures over the most recent updates."""

from __future__ import annotations

from collections import deque

import torch
from agent import Losses


class RecentWindow:
    def __init__(self, size: int = 200) -> None:
        self.recent: deque[Losses] = deque(maxlen=size)

    def push(self, losses: Losses) -> None:
        self.recent.append(losses)

    def means(self) -> dict[str, float]:
        columns = zip(*self.recent)
        return {name: torch.stack(column).mean().item() for name, column in zip(Losses._fields, columns)}
