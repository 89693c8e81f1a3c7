from typing import NamedTuple

import torch


class Sessions(NamedTuple):
    clicks: torch.Tensor
    following: torch.Tensor
    catalogue: int


def day_by_day(start=1000, fresh=150, steps=40, every=4, batch=16, length=12):
    """Sessions over a catalogue to which items are added every few batches."""
    generator = torch.Generator().manual_seed(41)
    catalogue = start
    for number in range(steps):
        if number and number % every == 0:
            catalogue += fresh
        heads = torch.randint(catalogue, (batch, 1), generator=generator)
        jumps = torch.randint(1, 6, (batch, length), generator=generator).cumsum(1)
        walk = torch.cat((heads, heads + jumps), 1) % catalogue
        yield Sessions(walk[:, :-1], walk[:, -1], catalogue)
