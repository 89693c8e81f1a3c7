"""How long each block was in use: from the event that asked for it to the one that freed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tenure.allocator.earlier_state import EarlierState
from tenure.model.allocator import NO_STACK, Action, BlockState, Snapshot
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
    """Every block's life. Cost: half a microsecond per event."""
    events = snapshot.traces.get(device)
    num_events = 0 if events is None else len(events)
    rows = [(block.address, block.requested, BEFORE, NO_STACK, 0, -1) for block in earlier.blocks]
    freed = [num_events] * len(rows)
    row_at = {row[0]: number for number, row in enumerate(rows)}
    if events is not None:
        columns = (events.action, events.address, events.bytes, events.stack, events.stream, events.label)
        told = zip(*(column.tolist() for column in columns), strict=True)
        for number, (action, address, size, stack, stream, label) in enumerate(told):
            if action == Action.ALLOC:
                row_at[address] = len(rows)
                rows.append((address, size, number, stack, stream, label))
                freed.append(num_events)
            elif action == Action.FREE_COMPLETED:
                row = row_at.pop(address, None)
                if row is not None:
                    freed[row] = number
    address, size, born, stack, stream, labels = np.array(rows, dtype=np.int64).reshape(len(rows), 6).T
    stack = _with_stacks_at_end(snapshot, device, row_at, stack)
    return Lives(address, size, born, np.array(freed, dtype=np.int64), stack, stream, labels, num_events)


def _with_stacks_at_end(snapshot: Snapshot, device: int, row_at: dict[int, int], stack: Ints) -> Ints:
    """What is in use at the end has its stack in the snapshot's blocks, also where the trace began later."""
    stack = stack.copy()
    told = snapshot.blocks
    chosen = (snapshot.segments.device[told.segment] == device) & (told.state != BlockState.INACTIVE)
    for address, found in zip(told.address[chosen].tolist(), told.stack[chosen].tolist(), strict=True):
        row = row_at.get(address)
        if row is not None and stack[row] == NO_STACK:
            stack[row] = found
    return stack
