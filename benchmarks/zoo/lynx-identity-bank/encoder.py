from __future__ import annotations

import torch
from torch import Tensor, nn


class CoatEncoder(nn.Module):
    """Small vision transformer; token 0 stands for the animal, the others for patches of its coat."""

    def __init__(self, patches: int = 24, patch_dim: int = 48, dim: int = 96) -> None:
        super().__init__()
        self.patch = nn.Linear(patch_dim, dim)
        self.animal = nn.Parameter(torch.zeros(1, 1, dim))
        self.place = nn.Parameter(0.02 * torch.randn(1, patches + 1, dim))
        self.layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)

    def forward(self, patches: Tensor) -> Tensor:
        x = torch.cat([self.animal.expand(len(patches), -1, -1), self.patch(patches)], 1)
        return self.layer(x + self.place)
