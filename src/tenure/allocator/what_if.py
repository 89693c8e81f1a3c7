"""Plays a trace's requests with some of them left out, asked for at another time, or served by a pool of their own.

It begins with the segments and blocks that were there before the first event, as they lay.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tenure.allocator.earlier_state import EarlierState, state_before
from tenure.allocator.laid_out import lowest_addresses
from tenure.allocator.native import Played
from tenure.allocator.played import Start, played
from tenure.allocator.requests import Kind, Requests, requests_of
from tenure.allocator.settings import AllocatorSettings, settings_of_snapshot
from tenure.model.allocator import PoolId, Snapshot

_OWN_POOL: PoolId = (0, 1 << 40)


@dataclass(frozen=True)
class Course:
    """The requests of one device and the state that they began in."""

    snapshot: Snapshot
    device: int
    settings: AllocatorSettings
    earlier: EarlierState
    requests: Requests


def course_of(snapshot: Snapshot, device: int) -> Course:
    """What was recorded."""
    settings = settings_of_snapshot(snapshot.settings)
    earlier = state_before(snapshot, device, settings)
    return Course(snapshot, device, settings, earlier, requests_of(snapshot, device, settings))


def without(course: Course, numbers: Set[int]) -> Course:
    """The same if these had never been asked for."""
    kept = tuple(
        block for number, block in enumerate(course.earlier.blocks) if number not in numbers
    )  # numbers of requests count these first
    requests = course.requests.chosen(~_are_of(course.requests, numbers))
    return replace(
        course,
        earlier=replace(course.earlier, blocks=kept),
        requests=replace(requests, num_earlier=len(kept)),
    )


def asked_first(course: Course, numbers: Set[int]) -> Course:
    """The same if these had been asked for at the trace's beginning, before all else."""
    requests = course.requests
    is_moved = _are_of(requests, numbers) & (requests.kind == Kind.ALLOCATE)
    is_moved[: requests.num_earlier] = False
    is_before = np.arange(len(is_moved)) < requests.num_earlier
    order = [np.flatnonzero(is_before), np.flatnonzero(is_moved), np.flatnonzero(~is_before & ~is_moved)]
    return replace(course, requests=requests.chosen(np.concatenate(order)))


def in_own_pool(course: Course, numbers: Set[int]) -> Course:
    """The same if these had been asked for in a `torch.cuda.MemPool` of their own."""
    requests = course.requests
    pool = np.where(_are_of(requests, numbers) & (requests.kind == Kind.ALLOCATE), len(requests.pools), requests.pool)
    return replace(course, requests=replace(requests, pool=pool, pools=(*requests.pools, _OWN_POOL)))


def outcome_of(course: Course, *, total_bytes: int | None = None, error: int | None = None) -> Played:
    """Play it on a device of so much memory, up to the request that was refused as the `error`-th."""
    start = Start(course.earlier, lowest_addresses(course.snapshot, course.device, course.earlier))
    return played(course.requests, course.settings, start, total_bytes=total_bytes, error=error)


def outcome_under(
    course: Course, settings: AllocatorSettings, *, total_bytes: int | None = None, error: int | None = None
) -> Played:
    """Play it under other settings; what was there before the trace is asked for first then."""
    return played(course.requests, settings, total_bytes=total_bytes, error=error)


def _are_of(requests: Requests, numbers: Set[int]) -> NDArray[np.bool_]:
    return np.isin(requests.number, np.fromiter(numbers, dtype=np.int64, count=len(numbers)))
