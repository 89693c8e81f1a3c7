from typing import NamedTuple

import torch


class Quotes(NamedTuple):
    ticks: torch.Tensor
    spread: torch.Tensor


def one_batch(rows, generator):
    ticks = torch.randn(rows, 24, 128, generator=generator)
    return Quotes(ticks, ticks[:, :4, -16:].mean(dim=(1, 2)))


def quotes(count, rows=192, seed=5):
    """Ticks of the last hours for each bond, with the next spread."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield one_batch(rows, generator)
