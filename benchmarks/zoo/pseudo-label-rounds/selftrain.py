"""Self-training in rounds: label the unlabelled with the present model, then learn from the confident ones."""

from __future__ import annotations

from typing import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Labeller:
    """Wraps the model for one labelling pass."""

    def __init__(self, model: nn.Module, sharpen: float = 1.5) -> None:
        self.model = model
        self.sharpen = sharpen

    def __call__(self, batches: Iterable[Tensor]) -> Iterator[Tensor]:
        self.model.eval()
        for spectra in batches:
            yield self.postprocess(self.model(spectra))
        self.model.train()

    def postprocess(self, logits: Tensor) -> Tensor:
        return torch.softmax(self.sharpen * logits, dim=-1)


class SelfTrainer:
    def __init__(self, model: nn.Module, labeller: Labeller, threshold: float = 0.5) -> None:
        self.model = model
        self.labeller = labeller
        self.threshold = threshold
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.soft_labels: list[Tensor] = []

    def begin_round(self, pool: list[Tensor]) -> float:
        """Label the pool anew; returns the mean confidence."""
        self.soft_labels = list(self.labeller(pool))
        return sum(float(soft.amax(-1).mean()) for soft in self.soft_labels) / len(pool)

    def step(self, spectra: Tensor, labels: Tensor, unlabelled: Tensor, position: int) -> tuple[float, int]:
        confidence, guessed = self.soft_labels[position].detach().max(-1)
        sure = confidence > self.threshold
        logits = self.model(torch.cat([spectra, unlabelled[sure]]))
        loss = F.cross_entropy(logits, torch.cat([labels, guessed[sure]]))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), int(sure.sum())
