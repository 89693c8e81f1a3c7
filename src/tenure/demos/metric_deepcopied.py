"""Image classification whose logger deep-copies a metric at every batch.

The metric wraps its own `update` and `compute` in closures over itself, as metric libraries do.
So every copy is a ring of references, and lives on with its large state until the cyclic collector happens
to run: memory grows for dozens of steps and then falls. `--fixed` computes from the metric itself.
"""

from __future__ import annotations

import argparse
import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from measure import LiveBytes
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """Hyperparameters."""

    num_steps: int = 40
    batch_size: int = 16
    num_classes: int = 200
    learning_rate: float = 0.05


class ConfusionMatrix:
    """Counts of (target, prediction); `compute` gives back the mean accuracy over classes."""

    def __init__(self, num_classes: int) -> None:
        self.num_classes = num_classes
        self.matrix = torch.zeros(num_classes, num_classes, dtype=torch.int64)
        self._wrap_methods()

    def _wrap_methods(self) -> None:
        self.num_updates = 0
        self.update = self._counted(type(self).update)
        self.compute = self._counted(type(self).compute)

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def wrapped(*args: Any) -> Any:
            self.num_updates += 1
            return method(self, *args)

        return wrapped

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("update", "compute")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._wrap_methods()

    def update(self, predictions: Tensor, targets: Tensor) -> None:
        """Count one batch."""
        index = targets * self.num_classes + predictions
        self.matrix += torch.bincount(index, minlength=self.num_classes**2).view_as(self.matrix)

    def compute(self) -> Tensor:
        """Mean accuracy over the classes seen."""
        seen = self.matrix.sum(dim=1)
        return (self.matrix.diagonal()[seen > 0] / seen[seen > 0]).mean()


class MetricLogger:
    """Logs a metric after each batch without touching the running one: it works on a copy."""

    def __init__(self, metric: ConfusionMatrix) -> None:
        self.metric = metric
        self.last_value = 0.0

    def batch_end(self, predictions: Tensor, targets: Tensor) -> None:
        """Update the running metric, compute from a copy of it."""
        self.metric.update(predictions, targets)
        snapshot = copy.deepcopy(self.metric)
        self.last_value = float(snapshot.compute())


class DirectMetricLogger(MetricLogger):
    """The same values; computing changes nothing, so no copy is needed."""

    def batch_end(self, predictions: Tensor, targets: Tensor) -> None:
        """Update the running metric and compute from it."""
        self.metric.update(predictions, targets)
        self.last_value = float(self.metric.compute())


class Trainer:
    """Calls the loggers after each batch."""

    def __init__(self, config: Config, logger_type: type[MetricLogger]) -> None:
        self.config = config
        self.model = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
            nn.Linear(128, config.num_classes),
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.learning_rate, momentum=0.9)
        self.logger = logger_type(ConfusionMatrix(config.num_classes))
        self.memory = LiveBytes()

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Random images and classes."""
        for _ in range(self.config.num_steps):
            images = torch.randn(self.config.batch_size, 3, 32, 32)
            yield images, torch.randint(self.config.num_classes, (self.config.batch_size,))

    def train_batch(self, images: Tensor, targets: Tensor) -> None:
        """One update, then the loggers."""
        self.memory.sample()
        logits = self.model(images)
        nn.functional.cross_entropy(logits, targets).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.logger.batch_end(logits.detach().argmax(dim=1), targets)

    def fit(self) -> None:
        """One epoch."""
        for images, targets in self.batches():
            self.train_batch(images, targets)


def main() -> None:
    """Train for one epoch and say what was alive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="with the remedy")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    trainer = Trainer(Config(), DirectMetricLogger if arguments.fixed else MetricLogger)
    trainer.fit()
    print(f"accuracy {trainer.logger.last_value:.3f}")
    print(trainer.memory.report())


if __name__ == "__main__":
    main()
