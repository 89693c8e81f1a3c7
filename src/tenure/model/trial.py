"""What `tenure plan --options` finds in a program before it tries something there."""

from __future__ import annotations

from dataclasses import dataclass

MICRO_BATCHES = 2
"""Into so many a batch is divided where gradients are accumulated."""


@dataclass(frozen=True)
class Blocks:
    """So many children of one class in the list or sequence of modules of this name."""

    container: str
    of_class: str
    count: int


@dataclass(frozen=True)
class Survey:
    """Repeated blocks, the classes of the optimizers, and by option why it cannot be tried."""

    blocks: tuple[Blocks, ...]
    optimizers: tuple[str, ...]
    refused: dict[str, str]
