"""What a program asked its allocator for, in its order: what a replay under other settings plays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tenure.allocator.dropped_pools import DEFAULT_ROW
from tenure.allocator.earlier_state import EarlierState, state_before
from tenure.allocator.lifetimes import freed_rows
from tenure.allocator.own_releases import OwnRelease, Why, own_releases
from tenure.allocator.pools import pools_of_events
from tenure.allocator.settings import AllocatorSettings
from tenure.model.allocator import Action, Events, PoolId, Snapshot
from tenure.model.heap import Ints


class Kind(IntEnum):
    """What a row asks for. OUT_OF_MEMORY: so many bytes, which were not there. GIVE_BACK: that the free segments of the
    row's pool go back.

    The others were not asked for; the recorded allocator did them of itself, where it was short of memory. RETRY: the
    free segments of the row's pool went back. COLLECT: so many bytes that had not been taken for long. OVERSIZED: some
    of sizes that are not split, for a request of so many bytes.
    """

    ALLOCATE = 0
    FREE = 1
    GIVE_BACK = 2
    OUT_OF_MEMORY = 3
    RETRY = 4
    COLLECT = 5
    OVERSIZED = 6


OF_ITSELF = (Kind.RETRY, Kind.COLLECT, Kind.OVERSIZED)
_OF_ALL_THAT_IS_FREE = (Kind.GIVE_BACK, Kind.RETRY)
_KINDS = {Why.COLLECTED: Kind.COLLECT, Why.OVERSIZED: Kind.OVERSIZED}


@dataclass(frozen=True)
class Requests:
    """What a program asked its allocator for, on one device; a row each.

    `number` names the allocation, so that a free says which; it is the row of the trace's `Lives`. `pool` is an index
    into `pools`. `num_earlier` of them were there before the trace.
    """

    kind: Ints
    number: Ints
    bytes: Ints
    stream: Ints
    pool: Ints
    pools: tuple[PoolId, ...]
    num_earlier: int

    def chosen(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Requests:
        """These rows alone, in this order; as many of them were there before the trace."""
        kind, number, size = self.kind[rows], self.number[rows], self.bytes[rows]
        return Requests(kind, number, size, self.stream[rows], self.pool[rows], self.pools, self.num_earlier)


def requests_of(snapshot: Snapshot, device: int, settings: AllocatorSettings) -> Requests:
    """The requests of a trace, those for what was there before it first. Cost: a quarter of a microsecond per event."""
    earlier = state_before(snapshot, device, settings)
    before = _of_earlier(earlier)
    events, pools = snapshot.traces.get(device), snapshot.pools
    told = before
    if events is not None:
        found = pools_of_events(snapshot, device, events)
        of_itself = own_releases(snapshot, device, events, settings)
        told = np.hstack([before, _of_events(events, earlier, found.rows.copy(), of_itself)])
        pools = found.pools
    kind, pool = told[0], told[4]
    is_back = np.isin(kind, _OF_ALL_THAT_IS_FREE)
    again = is_back[1:] & (kind[1:] == kind[:-1]) & (pool[1:] == pool[:-1])
    kept = np.ones(len(kind), dtype=np.bool_)
    kept[1:] = ~again
    if len(kind) and is_back[0]:
        kept[: int(np.argmax(np.append(~is_back, True)))] = False
    kind, number, size, stream, pool = told[:, kept]
    return Requests(kind, number, size, stream, pool, pools, len(earlier.blocks))


def _of_earlier(earlier: EarlierState) -> Ints:
    """A row for each block that was there before; told as columns, like those of events."""
    starts = [segment.address for segment in earlier.segments]
    rows = []
    for number, block in enumerate(earlier.blocks):
        place = max(bisect_right(starts, block.address) - 1, 0)
        near = earlier.segments[place] if starts else None
        stream, pool = (0, DEFAULT_ROW) if near is None else (near.stream, near.pool)
        rows.append((Kind.ALLOCATE, number, block.requested, stream, pool))
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5).T


def _of_events(events: Events, earlier: EarlierState, pool: Ints, of_itself: Sequence[OwnRelease]) -> Ints:
    kind = np.full(len(events), -1, dtype=np.int64)
    number = np.full(len(events), -1, dtype=np.int64)
    size = events.bytes.copy()
    kind[events.action == Action.ALLOC] = Kind.ALLOCATE
    kind[events.action == Action.OOM] = Kind.OUT_OF_MEMORY
    kind[(events.action == Action.SEGMENT_FREE) | (events.action == Action.SEGMENT_UNMAP)] = Kind.GIVE_BACK
    for row, freed in freed_rows(events, earlier):
        kind[row], number[row] = Kind.FREE, freed
    number[kind == Kind.ALLOCATE] = len(earlier.blocks) + np.arange(int((kind == Kind.ALLOCATE).sum()))
    size[(kind == Kind.FREE) | (kind == Kind.GIVE_BACK)] = 0
    pool[kind == Kind.FREE] = DEFAULT_ROW
    stream = np.where(kind == Kind.GIVE_BACK, 0, events.stream)
    for each in of_itself:
        kind[each.begin : each.end] = Kind.RETRY if each.why == Why.RETRY else -1
        if each.why != Why.RETRY:
            of_request = events.bytes[each.request], events.stream[each.request], pool[each.request]
            size[each.begin], stream[each.begin], pool[each.begin] = of_request
            kind[each.begin] = _KINDS[each.why]
        if each.why == Why.COLLECTED:
            size[each.begin] = each.bytes
    return np.stack([kind, number, size, stream, pool])[:, kind >= 0]
