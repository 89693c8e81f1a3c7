"""The tree of hypotheses of one utterance."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch


@dataclass(eq=False)
class Hypothesis:
    token: int
    score: float
    state: torch.Tensor
    parent: Hypothesis | None = None
    followers: list[Hypothesis] = field(default_factory=list)

    def follow(self, token: int, score: float, state: torch.Tensor) -> Hypothesis:
        child = Hypothesis(token, self.score + score, state, parent=self)
        self.followers.append(child)
        return child

    def tokens(self) -> list[int]:
        return [] if self.parent is None else [*self.parent.tokens(), self.token]
