from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from plates.nets import CoarseNet, Refiner


@dataclass
class Scratch:
    """What the stages hand to each other."""

    fields: torch.Tensor | None = None
    peaks: torch.Tensor | None = None


class Cascade:
    def __init__(self):
        self.coarse = CoarseNet().requires_grad_(False)
        self.refiner = Refiner()
        self.optimizer = torch.optim.Adam(self.refiner.parameters(), lr=1e-3)
        self.scratch = Scratch()
        self.brightest = 0.0

    @torch.no_grad()
    def locate(self, plates):
        self.scratch.fields = self.coarse(plates)
        self.scratch.peaks = self.scratch.fields.amax(dim=1, keepdim=True)
        self.brightest = self.scratch.peaks.max().item()
        return self.scratch.peaks

    def learn(self, plates, clean):
        peaks = self.locate(plates)
        restored = self.refiner(torch.cat([plates, peaks], dim=1))
        loss = F.mse_loss(restored, clean)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def parameters_of(part: nn.Module) -> int:
    return sum(parameter.numel() for parameter in part.parameters())
