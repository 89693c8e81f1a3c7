"""Whether a trace gives memory at one address twice: then it is no allocator's, and nothing is played from there on."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from tenure.allocator.earlier_state import EarlierState
from tenure.model.allocator import Action, Events

BEFORE_ALL = -1


def first_given_twice(earlier: EarlierState, events: Events | None) -> int | None:
    """The first event that gives memory where some is already; BEFORE_ALL where that is so before the first event, None
    where it never is. Cost: a microsecond per event that gives or takes memory."""
    runs = _Runs()
    if not all(runs.give(segment.address, segment.size) for segment in earlier.segments):
        return BEFORE_ALL
    if events is None:
        return None
    chosen = np.flatnonzero((events.action >= Action.SEGMENT_ALLOC) & (events.action <= Action.SEGMENT_UNMAP))
    columns = (chosen, events.action[chosen], events.address[chosen], events.bytes[chosen])
    for number, action, address, size in zip(*(column.tolist() for column in columns), strict=True):
        if action in (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP):
            runs.take(address, size)
        elif not runs.give(address, size):
            return int(number)
    return None


class _Runs:
    """Stretches of memory that do not touch, by address."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def give(self, address: int, size: int) -> bool:
        """Whether nothing of it was there."""
        place, end = bisect_right(self._starts, address), address + size
        touches_before = place > 0 and self._ends[place - 1] >= address
        touches_after = place < len(self._starts) and self._starts[place] <= end
        if (touches_before and self._ends[place - 1] > address) or (touches_after and self._starts[place] < end):
            return False
        first, last = place - touches_before, place + touches_after
        start = self._starts[first] if touches_before else address
        end = self._ends[last - 1] if touches_after else end
        self._starts[first:last], self._ends[first:last] = [start], [end]
        return True

    def take(self, address: int, size: int) -> None:
        """What was there as a whole is there no more; else the replay says that it was not."""
        place, end = bisect_right(self._starts, address) - 1, address + size
        if place < 0 or self._ends[place] < end:
            return
        run = (self._starts[place], self._ends[place])
        left = [(start, stop) for start, stop in ((run[0], address), (end, run[1])) if start < stop]
        self._starts[place : place + 1] = [start for start, _ in left]
        self._ends[place : place + 1] = [stop for _, stop in left]
