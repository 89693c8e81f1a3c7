"""How few of a model's blocks have to be checkpointed for a step to fit, by running the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Row = TypeVar("Row")


def fewest_that_fit(num_blocks: int, run: Callable[[int], Row], fits: Callable[[Row], bool | None]) -> Row | None:
    """The row of the fewest of the first blocks with which it fits, fewer than all; None where it takes all of them.

    To be asked where none do not fit and all do. More blocks are taken never to need more, so that a bisection finds
    the fewest. A run that says nothing ends the search. Cost: a run of the program for each halving of `num_blocks`.
    """
    too_few, enough, found = 0, num_blocks, None
    while enough - too_few > 1:
        tried = (too_few + enough) // 2
        row = run(tried)
        answer = fits(row)
        if answer is None:
            return found
        if answer:
            enough, found = tried, row
        else:
            too_few = tried
    return found
