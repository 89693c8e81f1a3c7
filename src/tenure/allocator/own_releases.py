"""What the allocator gave back by itself, without a call of the program: at a retry, by a threshold, by size.

A segment that the program gives back carries the stack that it was made with; one that goes back within a request that
of the request (release_block in c10/cuda/CUDACachingAllocator.cpp), which the segment or the error that follows carries
too. Without stacks, what the program would have given back as a whole is taken for its own call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from tenure.allocator.dropped_pools import DEFAULT_ROW, runs_of_frees
from tenure.allocator.segment_lives import segment_lives
from tenure.allocator.settings import NO_LIMIT, AllocatorSettings
from tenure.model.allocator import NO_STACK, Action, Events, Snapshot
from tenure.model.heap import Ints

_BACK = (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP)
_FOLLOWING = (Action.SEGMENT_ALLOC, Action.SEGMENT_MAP, Action.OOM)


class Why(Enum):
    """RETRY: the device was full, all that is free went back. COLLECTED: what was not taken for long. OVERSIZED: of the
    sizes that are not split."""

    RETRY = auto()
    COLLECTED = auto()
    OVERSIZED = auto()


@dataclass(frozen=True)
class OwnRelease:
    """The events from `begin` to `end`, which gave `bytes` back within one request; `request` is the event that
    says how much was asked for."""

    begin: int
    end: int
    why: Why
    bytes: int
    request: int


def own_releases(snapshot: Snapshot, device: int, events: Events, settings: AllocatorSettings) -> list[OwnRelease]:
    """By event. Cost: a microsecond per event that gave memory back; half a microsecond per event beside, where the
    settings have a rule that gives back a part."""
    runs = list(_within_requests(events))
    left = _whole_that_stay(snapshot, device, events) if runs and settings.gives_back_parts else {}
    runs = [each for each in runs if events.stack[each[0]] != NO_STACK or left.get(each[0])]
    return [
        OwnRelease(
            begin,
            end,
            _why(events.bytes[begin:end], settings, stays=left.get(begin, False)),
            int(events.bytes[begin:end].sum()),
            request,
        )
        for begin, end, request in runs
    ]


def _why(size: Ints, settings: AllocatorSettings, *, stays: bool) -> Why:
    if not stays:
        return Why.RETRY
    if settings.garbage_collection_threshold > 0 and (size < settings.max_split_bytes).any():
        return Why.COLLECTED
    return Why.OVERSIZED if settings.max_split_bytes != NO_LIMIT else Why.COLLECTED


def _within_requests(events: Events) -> Iterator[tuple[int, int, int]]:
    """Where each run of events begins that may have been within a request, where it ends, and what says the size."""
    rows = np.flatnonzero(np.isin(events.action, _BACK))
    if not len(rows):
        return
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    for run in np.split(rows, breaks):
        begin, end = int(run[0]), int(run[-1]) + 1
        following = end
        while following < len(events) and events.action[following] in (*_BACK, Action.FREE_COMPLETED):
            following += 1
        if following == len(events) or events.action[following] not in _FOLLOWING:
            continue
        if (events.stack[begin:end] == events.stack[following]).all():
            yield begin, end, _request(events, following)


def _request(events: Events, following: int) -> int:
    """The allocation that new memory was for, or the error itself."""
    while following + 1 < len(events) and events.action[following] in (Action.SEGMENT_ALLOC, Action.SEGMENT_MAP):
        following += 1
    return following


def _whole_that_stay(snapshot: Snapshot, device: int, events: Events) -> dict[int, bool]:
    """By the first event of a run: whether segments of the pool of all were free then and stayed."""
    lives, life_at = segment_lives(snapshot, device, events)
    runs = runs_of_frees(events, lives, life_at)
    return {run.begin: any(lives[each].pool <= DEFAULT_ROW for each in run.rest) for run in runs}
