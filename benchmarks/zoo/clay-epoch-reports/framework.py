"""Hooks around an epoch, Lightning fashion."""

from __future__ import annotations

from typing import Any, Iterable

import torch


class Module:
    """What the loop needs to know of a task."""

    optimizer: torch.optim.Optimizer

    def __init__(self) -> None:
        self.step_outputs: list[dict[str, Any]] = []

    def training_step(self, batch: Any) -> dict[str, Any]:
        raise NotImplementedError

    def on_train_epoch_end(self) -> None: ...


class Loop:
    def __init__(self, epochs: int) -> None:
        self.epochs = epochs

    def fit(self, module: Module, loader: Iterable) -> None:
        for _ in range(self.epochs):
            for batch in loader:
                self.advance(module, batch)
            module.on_train_epoch_end()

    def advance(self, module: Module, batch: Any) -> None:
        outputs = module.training_step(batch)
        module.optimizer.zero_grad()
        outputs.pop("loss").backward()
        module.optimizer.step()
        module.step_outputs.append(outputs)
