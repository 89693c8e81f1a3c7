"""What a program asked its allocator for, in its order: what a replay under other settings plays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tenure.allocator.earlier_state import state_before
from tenure.allocator.settings import AllocatorSettings
from tenure.model.allocator import DEFAULT_POOL, Action, PoolId, Snapshot


class Kind(IntEnum):
    """What a row asks for. OUT_OF_MEMORY: so many bytes, which were not there."""

    ALLOCATE = 0
    FREE = 1
    GIVE_BACK = 2
    OUT_OF_MEMORY = 3


@dataclass(frozen=True)
class Requests:
    """What a program asked its allocator for, on one device; a row of (kind, number, bytes, stream, pool) each.

    The number names the allocation, so that a free says which; it is the row of the trace's `Lives`. `num_earlier` of
    them were there before the trace.
    """

    rows: tuple[tuple[int, int, int, int, PoolId], ...]
    num_earlier: int


def requests_of(snapshot: Snapshot, device: int, settings: AllocatorSettings) -> Requests:
    """The requests of a trace, those for what was there before it first."""
    earlier = state_before(snapshot, device, settings)
    pools = {segment.address: snapshot.pools[segment.pool] for segment in earlier.segments}
    streams = {segment.address: segment.stream for segment in earlier.segments}
    starts = sorted(pools)
    number_at: dict[int, int] = {}
    rows: list[tuple[int, int, int, int, PoolId]] = []
    place = 0
    for block in earlier.blocks:
        while place + 1 < len(starts) and starts[place + 1] <= block.address:
            place += 1
        start = starts[place] if starts else 0
        number_at[block.address] = len(number_at)
        stream, pool = streams.get(start, 0), pools.get(start, DEFAULT_POOL)
        rows.append((Kind.ALLOCATE, number_at[block.address], block.requested, stream, pool))
    num_earlier = len(rows)
    events = snapshot.traces.get(device)
    if events is not None:
        columns = (events.action, events.address, events.bytes, events.stream, events.pool)
        num_given = num_earlier
        for action, address, size, stream, pool_row in zip(*(each.tolist() for each in columns), strict=True):
            if action == Action.ALLOC:
                pool = snapshot.pools[pool_row] if pool_row >= 0 else DEFAULT_POOL
                number_at[address] = num_given
                rows.append((Kind.ALLOCATE, num_given, size, stream, pool))
                num_given += 1
            elif action == Action.FREE_COMPLETED and address in number_at:
                rows.append((Kind.FREE, number_at.pop(address), 0, stream, DEFAULT_POOL))
            elif action in (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP) and rows and rows[-1][0] != Kind.GIVE_BACK:
                rows.append((Kind.GIVE_BACK, -1, 0, 0, DEFAULT_POOL))
            elif action == Action.OOM:
                pool = snapshot.pools[pool_row] if pool_row >= 0 else DEFAULT_POOL
                rows.append((Kind.OUT_OF_MEMORY, -1, size, stream, pool))
    return Requests(tuple(rows), num_earlier)
