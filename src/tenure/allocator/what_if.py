"""Plays a trace's requests with some of them left out, asked for at another time, or served by a pool of their own.

It begins with the segments and blocks that were there before the first event, as they lay.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from tenure.allocator.blocks import Block
from tenure.allocator.earlier_state import EarlierState, state_before
from tenure.allocator.laid_out import lay_out, lowest_addresses
from tenure.allocator.requests import Kind, Requests, requests_of
from tenure.allocator.settings import AllocatorSettings, settings_of_snapshot
from tenure.allocator.simulated_device import SimulatedDevice
from tenure.allocator.simulator import Allocator
from tenure.model.allocator import PoolId, Snapshot

_OWN_POOL: PoolId = (0, 1 << 40)


@dataclass(frozen=True)
class Outcome:
    """What a replay came to. `fits`: whether all requests were served, among them the refused one that it went up
    to; others that were refused are left out."""

    peak_reserved_bytes: int
    fits: bool


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
    rows = tuple(row for row in course.requests.rows if row[1] not in numbers)
    num_earlier = course.requests.num_earlier - (len(course.earlier.blocks) - len(kept))
    return replace(course, earlier=replace(course.earlier, blocks=kept), requests=Requests(rows, num_earlier))


def asked_first(course: Course, numbers: Set[int]) -> Course:
    """The same if these had been asked for at the trace's beginning, before all else."""
    rows, begin = course.requests.rows, course.requests.num_earlier
    moved = tuple(row for row in rows[begin:] if row[0] == Kind.ALLOCATE and row[1] in numbers)
    rest = tuple(row for row in rows[begin:] if not (row[0] == Kind.ALLOCATE and row[1] in numbers))
    return replace(course, requests=Requests((*rows[:begin], *moved, *rest), begin))


def in_own_pool(course: Course, numbers: Set[int]) -> Course:
    """The same if these had been asked for in a `torch.cuda.MemPool` of their own."""
    rows = tuple(
        (*row[:4], _OWN_POOL) if row[0] == Kind.ALLOCATE and row[1] in numbers else row for row in course.requests.rows
    )
    return replace(course, requests=Requests(rows, course.requests.num_earlier))


def outcome_of(course: Course, *, total_bytes: int | None = None, error: int | None = None) -> Outcome:
    """Play it on a device of so much memory, up to the request that was refused as the `error`-th. Cost: 1 to 2 us per
    request."""
    earlier = course.earlier
    given = sum(segment.size for segment in earlier.segments)
    end = max((segment.address + segment.size for segment in earlier.segments), default=0)
    allocator = Allocator(course.settings, SimulatedDevice(total_bytes, given_bytes=given, given_to=end))
    lay_out(
        allocator,
        earlier,
        course.snapshot.pools,
        lowest_addresses(course.snapshot, course.device, earlier),
    )
    begin = course.requests.num_earlier
    numbers = (row[1] for row in course.requests.rows[:begin])
    laid = zip(numbers, earlier.blocks, strict=True)
    held = {number: found for number, block in laid if (found := allocator.in_use.get(block.address)) is not None}
    return _played(allocator, course.requests, held, begin, error)


def outcome_under(
    course: Course, settings: AllocatorSettings, *, total_bytes: int | None = None, error: int | None = None
) -> Outcome:
    """Play it under other settings; what was there before the trace is asked for first then."""
    allocator = Allocator(settings, SimulatedDevice(total_bytes))
    return _played(allocator, course.requests, {}, 0, error)


def _played(allocator: Allocator, requests: Requests, held: dict[int, Block], begin: int, error: int | None) -> Outcome:
    counts = allocator.counts
    peak, fits = counts.reserved_bytes, True
    num_errors = 0
    for kind, number, size, stream, pool in requests.rows[begin:]:
        if kind == Kind.ALLOCATE:
            block = allocator.allocate(size, stream, pool)
            fits = fits and block is not None
            peak = max(peak, counts.reserved_bytes)
            if block is not None:
                held[number] = block
        elif kind == Kind.OUT_OF_MEMORY:
            num_errors += 1
            if num_errors == error:
                fits = fits and allocator.allocate(size, stream, pool) is not None
                return Outcome(max(peak, counts.reserved_bytes), fits)
        elif kind == Kind.FREE and number in held:
            allocator.free(held.pop(number).address)
        elif kind == Kind.GIVE_BACK:
            allocator.give_back()
    return Outcome(peak, fits)
