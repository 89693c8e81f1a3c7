"""Puts the state that was found before a trace into a simulated allocator."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from tenure.allocator.blocks import Block, Pool, Range, cut_off
from tenure.allocator.earlier_state import EarlierSegment, EarlierState
from tenure.allocator.settings import SMALL_SEGMENT
from tenure.allocator.simulator import Allocator
from tenure.errors import SnapshotError
from tenure.model.allocator import Action, PoolId, Snapshot

ENDLESS = 1 << 44
"""Addresses of an expandable segment: more than any device has; a snapshot does not tell how many were reserved."""


def end_of(earlier: EarlierState) -> int:
    """Above every address of its segments, and those that an expandable one may still put memory behind: what a device
    gives from here on is nobody else's."""
    return max((each.address + (ENDLESS if each.is_expandable else each.size) for each in earlier.segments), default=0)


def lowest_addresses(snapshot: Snapshot, device: int, earlier: EarlierState) -> dict[int, int]:
    """For each run of memory in an expandable segment, the lowest address that its segment is seen to have: its first
    pages may be without memory before the first event, and get some in the trace. A run's segment is the nearest."""
    runs = [segment for segment in earlier.segments if segment.is_expandable]
    bases = {run.address: run.address for run in runs}
    events = snapshot.traces.get(device)
    if not runs or events is None:
        return bases
    chosen = events.action == Action.SEGMENT_MAP
    for address, stream in zip(events.address[chosen].tolist(), events.stream[chosen].tolist(), strict=True):
        near = [run for run in runs if run.stream == stream]
        if near:
            run = min(near, key=lambda each: abs(each.address - address))
            bases[run.address] = min(bases[run.address], address)
    return bases


def lay_out(allocator: Allocator, earlier: EarlierState, pools: tuple[PoolId, ...], bases: Mapping[int, int]) -> None:
    """Put the segments and blocks of an earlier state into an allocator that has none; `bases` are lowest addresses."""
    free: dict[int, Block] = {}
    for segment in earlier.segments:
        pool = allocator.pool(pools[segment.pool], segment.is_small)
        if segment.is_expandable:
            free[segment.address] = _mapped(allocator, segment, pool, bases[segment.address])
        else:
            free[segment.address] = allocator.add_segment(segment.address, segment.size, pool, segment.stream)
    starts = sorted(free)
    for block in earlier.blocks:
        start = starts[bisect_right(starts, block.address) - 1] if starts else 0
        rest = free.get(start)
        if rest is None or block.address + block.size > rest.address + rest.size or block.address < rest.address:
            continue  # told as inconsistent already
        end = rest.address + rest.size
        placed = allocator.place(rest, block.address, block.size, block.requested)
        if placed.address + placed.size == end:
            del free[start]
        else:
            following = placed.after
            assert following is not None
            free[start] = following


def _mapped(allocator: Allocator, segment: EarlierSegment, pool: Pool, base: int) -> Block:
    """A run of memory in an expandable segment. All runs of one pool and stream lie in one segment: a second is made
    only where the first is full, and that is larger than the device."""
    addresses = pool.unmapped.get(segment.stream)
    if addresses:
        rest = pool.unmapped_by_address[addresses[-1]]
    else:
        page = SMALL_SEGMENT if segment.is_small else allocator.settings.large_segment_bytes
        rest = allocator.add_range(Range(base, ENDLESS, page), pool, segment.stream)
    if segment.address > rest.address:
        pool.remove(rest)
        gap = cut_off(rest, segment.address - rest.address)
        pool.insert(gap)
        pool.insert(rest)
    allocator.map_recorded(rest, segment.size)
    block = pool.by_address.get(segment.address)
    if block is None or block.size < segment.size:
        raise SnapshotError(f"the snapshot's expandable segments touch each other at {segment.address:#x}")
    return block
