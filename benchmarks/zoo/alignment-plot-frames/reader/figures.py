"""Pictures of training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Frame:
    step: int
    picture: torch.Tensor


class AlignmentFilm:
    """One picture of the first sentence's alignment after each step."""

    def __init__(self, model, sentences):
        self.model = model
        self.sentences = sentences
        self.frames: list[Frame] = []

    def after_step(self, step, loss):
        self.shoot(step)

    def shoot(self, step):
        self.model.eval()
        weights, *_ = self.model.align(*self.sentences)
        self.frames.append(Frame(step, weights[0]))
        self.model.train()

    def pictures(self) -> Iterator[torch.Tensor]:
        return (frame.picture for frame in self.frames)

    def sharpest(self) -> float:
        return max(picture.amax(dim=-1).mean().item() for picture in self.pictures())
