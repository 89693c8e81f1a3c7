from __future__ import annotations

from typing import Any

import torch


class EpochReport:
    """Mixin: figures over all predictions of an epoch."""

    epoch = 0
    step_outputs: list[dict[str, Any]]

    def on_train_epoch_end(self) -> None:
        predicted = torch.cat([outputs["predicted"] for outputs in self.step_outputs])
        actual = torch.cat([outputs["actual"] for outputs in self.step_outputs])
        error = (predicted - actual).abs()
        explained = 1 - (predicted - actual).square().mean() / actual.var()
        print(f"epoch {self.epoch}: {len(predicted)} pots, error {error.mean():.4f}, explained {explained:.3f}")
        self.step_outputs.clear()
        self.epoch += 1
