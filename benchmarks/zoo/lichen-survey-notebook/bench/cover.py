"""Cover of lichen on one plot: fits `model` (given) for two steps to the photographs of `plot` (given)."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Plot:
    photographs: torch.Tensor
    cover: torch.Tensor


def visit(number, shots=20, size=32):
    gen = torch.Generator().manual_seed(500 + number)
    cover = torch.rand(shots, 1, 1, 1, generator=gen)
    lichen = torch.rand(shots, 1, size, size, generator=gen) < cover
    return Plot(lichen + 0.2 * torch.randn(shots, 3, size, size, generator=gen), cover.flatten())


here = visit(plot)
for step in range(2):
    loss = F.mse_loss(model(here.photographs).squeeze(-1), here.cover)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

error = loss.item()
mean_cover = here.cover.mean().item()
