"""How long each block was in use: from the event that asked for it to the one that freed it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tenure.allocator.earlier_state import EarlierState
from tenure.allocator.uses import NEVER, uses_of
from tenure.model.allocator import NO_STACK, Action, BlockState, Events, Snapshot
from tenure.model.heap import Ints

Bools = NDArray[np.bool_]
BEFORE = -1
"""Born before the first event."""


@dataclass(frozen=True)
class Lives:
    """The blocks of one device that were in use at some time, in the order of their births; a row each.

    `bytes` are what was asked for. `born` is an event, or BEFORE; `freed` the event by which it was free again, or
    `num_events` where it was not. `stack` is an index into the snapshot's stacks, `label` into its labels, -1
    where none is known.
    """

    address: Ints
    bytes: Ints
    born: Ints
    freed: Ints
    stack: Ints
    stream: Ints
    label: Ints
    num_events: int

    def __len__(self) -> int:
        return len(self.address)

    @property
    def is_earlier(self) -> Bools:
        """Rows that were born before the first event."""
        return np.equal(self.born, BEFORE)

    @property
    def is_left(self) -> Bools:
        """Rows that are in use at the end."""
        return np.equal(self.freed, self.num_events)

    def in_use_after(self, event: int) -> Ints:
        """Rows that are in use after this event."""
        return np.flatnonzero((self.born <= event) & (self.freed > event))


def lives_of(snapshot: Snapshot, device: int, earlier: EarlierState) -> Lives:
    """Every block's life. Cost: a quarter of a microsecond per event."""
    events = snapshot.traces.get(device)
    before = np.array([(block.address, block.requested) for block in earlier.blocks], dtype=np.int64).reshape(-1, 2).T
    if events is None:
        events = Events(*[np.zeros(0, dtype=np.int64)] * 8)
    born = np.flatnonzero(events.action == Action.ALLOC)
    num, num_earlier = len(events), len(earlier.blocks)
    freed = np.full(num_earlier + len(born), num, dtype=np.int64)
    for event, number in freed_rows(events, earlier):
        freed[number] = event
    columns = [(events.stack, NO_STACK), (events.stream, 0), (events.label, -1)]
    stack, stream, label = (np.append(np.full(num_earlier, none), column[born]) for column, none in columns)
    address = np.append(before[0], events.address[born])
    size = np.append(before[1], events.bytes[born])
    lives = Lives(address, size, np.append(np.full(num_earlier, BEFORE), born), freed, stack, stream, label, num)
    return replace(lives, stack=_with_stacks_at_end(snapshot, device, lives))


def freed_rows(events: Events, earlier: EarlierState) -> list[tuple[Ints, Ints]]:
    """Events that free a block, and the number that the block has: the earlier ones first, then as they were asked for.

    Two pairs of columns: of blocks that the trace asks for, and of earlier ones. What nobody asked for is left out.
    """
    uses = uses_of(events)
    number_of_use = len(earlier.blocks) + np.cumsum(uses.is_alloc) - 1
    frees = np.flatnonzero(~uses.is_alloc)
    known = frees[uses.previous[frees] != NEVER]
    known = known[uses.is_alloc[uses.previous[known]]]
    first = frees[uses.previous[frees] == NEVER]
    addresses = np.array([block.address for block in earlier.blocks], dtype=np.int64)
    place = np.searchsorted(addresses, uses.address[first])
    there = np.zeros(len(first), dtype=np.bool_)
    inside = place < len(addresses)
    there[inside] = addresses[place[inside]] == uses.address[first][inside]
    return [
        (uses.event[known], number_of_use[uses.previous[known]]),
        (uses.event[first[there]], place[there].astype(np.int64)),
    ]


def _with_stacks_at_end(snapshot: Snapshot, device: int, lives: Lives) -> Ints:
    """What is in use at the end has its stack in the snapshot's blocks, also where the trace began later."""
    stack = lives.stack.copy()
    left = np.flatnonzero(lives.is_left)
    row_at = dict(zip(lives.address[left].tolist(), left.tolist(), strict=True))  # of two at one address the later
    told = snapshot.blocks
    chosen = (snapshot.segments.device[told.segment] == device) & (told.state != BlockState.INACTIVE)
    for address, found in zip(told.address[chosen].tolist(), told.stack[chosen].tolist(), strict=True):
        row = row_at.get(address)
        if row is not None and stack[row] == NO_STACK:
            stack[row] = found
    return stack
