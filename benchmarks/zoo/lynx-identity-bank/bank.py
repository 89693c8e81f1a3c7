"""One prototype per known animal: its embedding when it was last seen."""

from __future__ import annotations

import torch
from torch import Tensor


class IdentityBank:
    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.prototypes: dict[int, Tensor] = {}

    def record(self, identity: int, embedding: Tensor) -> None:
        self.prototypes[identity] = embedding

    def table(self) -> tuple[Tensor, Tensor]:
        """Identities seen so far and their prototypes, row by row."""
        if not self.prototypes:
            return torch.empty(0, dtype=torch.long), torch.empty(0, self.dim)
        return torch.tensor(list(self.prototypes)), torch.stack(list(self.prototypes.values()))

    def __len__(self) -> int:
        return len(self.prototypes)
