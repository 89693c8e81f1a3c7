"""Query by committee: the last few versions of the model vote on what is worth a label."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Committee:
    seats: int = 3
    members: list[nn.Module] = field(default_factory=list)

    def seat(self, model: nn.Module) -> None:
        self.members.append(copy.deepcopy(model).requires_grad_(False))

    @property
    def sitting(self) -> list[nn.Module]:
        return self.members[-self.seats :]

    @torch.no_grad()
    def disagreement(self, sections: torch.Tensor) -> torch.Tensor:
        votes = torch.stack([member(sections).softmax(-1) for member in self.sitting])
        return votes.var(0, unbiased=False).sum(-1)
