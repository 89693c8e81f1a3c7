"""What `tenure plan --options` finds in a program before it tries something there."""

from __future__ import annotations

from dataclasses import dataclass

MICRO_BATCHES = 2
"""Into so many a batch is divided where gradients are accumulated."""

SHARDED_OVER = {"fully-shard-2": 2, "fully-shard-4": 4, "fully-shard-8": 8}
"""Options under which a program runs as the first of so many ranks, in shards."""

DISTRIBUTED = "distributed-2"
DATA_PARALLEL = "data-parallel-2"
EIGHT_BIT = "8-bit-state"
NUM_DEVICES = {**SHARDED_OVER, DISTRIBUTED: 2, DATA_PARALLEL: 2}
"""How many devices an option takes; one where it does not stand here."""
NUM_RANKS = {**SHARDED_OVER, DISTRIBUTED: 2}
"""Of how many ranks a program is the first under an option."""
SMALLER_BATCHES = ("accumulation", DISTRIBUTED)
"""Options under which the program is given batches of 1/`MICRO_BATCHES` the size."""

CHECKPOINTING = "checkpointing"
SOME_BLOCKS = f"{CHECKPOINTING}:"
"""With a number: so many of the first blocks are checkpointed."""


def kind_of(option: str) -> str:
    """The option without the number of blocks that it is for."""
    return option.partition(":")[0]


def num_checkpointed(option: str) -> int | None:
    """How many blocks a way of checkpointing is for; None for all of them."""
    number = option.partition(":")[2]
    return int(number) if number else None


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
