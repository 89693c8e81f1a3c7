"""The same job as losses_kept_on_device.py; two meters keep three numbers each, however rarely somebody logs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch
from losses_kept_on_device import JobConfig, Trainer
from torch import Tensor

import tenure


class MeteredLosses:
    """The same log line from `tenure.LossMeter`; nothing here waits for the device or grows."""

    def __init__(self) -> None:
        self.loss = tenure.LossMeter()
        self.grad_norm = tenure.LossMeter()

    def record(self, loss: Tensor, grad_norm: Tensor) -> None:
        """Take one step."""
        self.loss.update(loss)
        self.grad_norm.update(grad_norm)

    def flush(self) -> str:
        """Mean loss and largest gradient norm since the last line."""
        return f"loss {self.loss.read().mean:.4f}  grad norm {self.grad_norm.read().max:.4f}"


def main() -> None:
    """Train and say what was alive."""
    torch.manual_seed(0)
    trainer = Trainer(JobConfig(), MeteredLosses())
    trainer.train()
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
