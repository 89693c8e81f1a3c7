"""The allocator's state before a trace's first event, found by walking back from the end.

A trace begins in mid-life. Which blocks were in use then follows from the snapshot's blocks and the events; the size of
one that was freed since does not, for a large block may be up to 1 MiB longer than what was asked for. Its end is where
the next block or the segment ends, if that is near, or else where the first later allocation behind it began.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np

from tenure.allocator.settings import LARGE_SEGMENT, SMALL_SEGMENT, SMALL_SIZE, AllocatorSettings
from tenure.allocator.uses import NEVER, Uses, uses_of
from tenure.model.allocator import Action, BlockState, Events, Snapshot

_ROUND_NUMBER = 1_000


@dataclass(frozen=True)
class EarlierSegment:
    """A segment that was there before the first event, of an expandable one a run of pages; `pool` is an index into the
    snapshot's pools."""

    address: int
    size: int
    stream: int
    is_small: bool
    pool: int
    is_expandable: bool = False


@dataclass(frozen=True)
class EarlierBlock:
    """A block that was in use before the first event."""

    address: int
    size: int
    requested: int


@dataclass(frozen=True)
class EarlierState:
    """What was there before the first event, by address.

    `num_guessed` blocks have an end that neither the snapshot nor a later event tells: the rounded request's is taken.
    `num_inconsistent` events free or allocate what cannot be there: the trace has lost events, or is no allocator's.
    """

    segments: tuple[EarlierSegment, ...]
    blocks: tuple[EarlierBlock, ...]
    num_guessed: int = 0
    num_inconsistent: int = 0


def state_before(snapshot: Snapshot, device: int, settings: AllocatorSettings) -> EarlierState:
    """The state of one device before the first of its events. Cost: a fifth of a microsecond per event."""
    events = snapshot.traces.get(device)
    segments = _last_segments(snapshot, device)
    in_use = _last_blocks(snapshot, device)
    num_inconsistent = 0
    if events is not None:
        num_inconsistent = _undo_segments(events, segments)
        in_use, num_unused = _without_uses(uses_of(events), in_use)
        num_inconsistent += num_unused
    by_address = tuple(segments[address] for address in sorted(segments))
    ends, num_guessed = _ends(by_address, in_use, events, settings)
    blocks = tuple(EarlierBlock(address, ends[address] - address, in_use[address][0]) for address in sorted(in_use))
    return EarlierState(by_address, blocks, num_guessed, num_inconsistent)


def is_cut_off(events: Events | None, earlier: EarlierState) -> bool:
    """Whether the record was full and its first events are gone: a trace that begins in mid-life and has a round number
    of events, as records are set up, or begins between the two that free a block. A late start of recording is neither.
    """
    if events is None or not len(events) or not earlier.blocks:
        return False
    begins_within = int(events.action[0]) == Action.FREE_COMPLETED
    return begins_within or len(events) % _ROUND_NUMBER == 0


def _last_segments(snapshot: Snapshot, device: int) -> dict[int, EarlierSegment]:
    told = snapshot.segments
    rows = zip(
        told.device.tolist(),
        told.address.tolist(),
        told.bytes.tolist(),
        told.stream.tolist(),
        told.is_small.tolist(),
        told.pool.tolist(),
        told.is_expandable.tolist(),
        strict=True,
    )
    return {
        address: EarlierSegment(address, size, stream, bool(is_small), pool, bool(is_expandable))
        for of, address, size, stream, is_small, pool, is_expandable in rows
        if of == device
    }


def _last_blocks(snapshot: Snapshot, device: int) -> dict[int, tuple[int, int | None]]:
    """What was asked for in each block in use, and its size, by address."""
    told = snapshot.blocks
    devices = snapshot.segments.device[told.segment].tolist()
    rows = zip(
        devices, told.address.tolist(), told.bytes.tolist(), told.requested.tolist(), told.state.tolist(), strict=True
    )
    return {
        address: (requested, size)
        for of, address, size, requested, state in rows
        if of == device and state != BlockState.INACTIVE
    }


def _without_uses(
    uses: Uses, in_use: dict[int, tuple[int, int | None]]
) -> tuple[dict[int, tuple[int, int | None]], int]:
    """What was in use before all of these events, of what is after them; and how many of them do not fit.

    What was in use at an address before its first event follows from that event alone.
    """
    is_last = uses.following == NEVER
    at_end = np.fromiter(in_use, dtype=np.int64, count=len(in_use))
    used_after = ~uses.is_alloc[uses.following]
    used_after[is_last] = np.isin(uses.address[is_last], at_end)
    found = dict(in_use)
    for address in uses.address[is_last].tolist():
        found.pop(address, None)
    first = (uses.previous == NEVER) & ~uses.is_alloc
    for address, size in zip(uses.address[first].tolist(), uses.bytes[first].tolist(), strict=True):
        found[address] = (size, None)
    return found, int((used_after != uses.is_alloc).sum())


def _undo_segments(events: Events, segments: dict[int, EarlierSegment]) -> int:
    """Undo what was done to segments, last first; gives back how many do not fit."""
    chosen = np.flatnonzero((events.action >= Action.SEGMENT_ALLOC) & (events.action <= Action.SEGMENT_UNMAP))[::-1]
    columns = (events.action, events.address, events.bytes, events.stream)
    num_inconsistent = 0
    for action, address, size, stream in zip(*(each[chosen].tolist() for each in columns), strict=True):
        if action == Action.SEGMENT_ALLOC:
            num_inconsistent += segments.pop(address, None) is None
        elif action == Action.SEGMENT_FREE:
            num_inconsistent += address in segments
            segments[address] = EarlierSegment(address, size, stream, size == SMALL_SEGMENT, 0)
        elif action == Action.SEGMENT_MAP:
            num_inconsistent += not _without_pages(segments, address, size)
        else:
            _with_pages(segments, address, size, stream)
    return num_inconsistent


def _without_pages(segments: dict[int, EarlierSegment], address: int, size: int) -> bool:
    """Take pages out of the run that has them; False where none has."""
    run = next((each for each in segments.values() if each.address <= address < each.address + each.size), None)
    if run is None or address + size > run.address + run.size:
        return False
    del segments[run.address]
    for start, end in ((run.address, address), (address + size, run.address + run.size)):
        if start < end:
            segments[start] = replace(run, address=start, size=end - start)
    return True


def _with_pages(segments: dict[int, EarlierSegment], address: int, size: int, stream: int) -> None:
    """Put pages back, as a part of the runs that they touch."""
    end = address + size
    before = next((each for each in segments.values() if each.address + each.size == address), None)
    after = segments.get(end)
    if before is not None and before.is_expandable:
        address = segments.pop(before.address).address
    if after is not None and after.is_expandable:
        end += segments.pop(after.address).size
    near = before or after
    is_small = near.is_small if near is not None else size % LARGE_SEGMENT != 0
    segments[address] = EarlierSegment(address, end - address, stream, is_small, near.pool if near else 0, True)


def _ends(
    segments: tuple[EarlierSegment, ...],
    in_use: dict[int, tuple[int, int | None]],
    events: Events | None,
    settings: AllocatorSettings,
) -> tuple[dict[int, int], int]:
    """Where each block ends, and how many of these ends are guessed."""
    ends: dict[int, int] = {}
    open_ends: dict[int, int] = {}
    starts = [segment.address for segment in segments]
    addresses = sorted(in_use)
    for place, address in enumerate(addresses):
        requested, size = in_use[address]
        ends[address] = address + (settings.round_bytes(requested) if size is None else size)
        number = bisect_right(starts, address) - 1
        if size is not None or number < 0:
            continue
        segment = segments[number]
        if segment.is_small or settings.expandable_segments:
            continue
        limit = segment.address + segment.size
        if place + 1 < len(addresses):
            limit = min(limit, addresses[place + 1])
        gap = limit - ends[address]
        if 0 < gap <= SMALL_SIZE:  # no free block of the large pool is as small: all of it belongs to this one
            ends[address] = limit
        elif gap > SMALL_SIZE:
            open_ends[address] = limit
    num_guessed = 0
    if open_ends and events is not None:
        num_guessed = _find_ends(open_ends, ends, events)
    return ends, num_guessed + len(open_ends)


def _find_ends(open_ends: dict[int, int], ends: dict[int, int], events: Events) -> int:
    """Ends told by the first allocation behind a block before it was freed. What is left in `open_ends` is neither told
    nor freed; gives back how many blocks were freed untold after something was allocated, which might have gone behind
    them."""
    waiting, num_untold, has_allocated = sorted(open_ends), 0, False
    for action, address in zip(events.action.tolist(), events.address.tolist(), strict=True):
        if action == Action.ALLOC:
            has_allocated = True
            place = bisect_right(waiting, address) - 1
            start = waiting[place] if place >= 0 else -1
            if start in open_ends and ends[start] <= address <= min(ends[start] + SMALL_SIZE, open_ends[start]):
                ends[start] = address
                del open_ends[start]
        elif action == Action.FREE_COMPLETED and open_ends.pop(address, None) is not None:
            num_untold += has_allocated
    return num_untold
