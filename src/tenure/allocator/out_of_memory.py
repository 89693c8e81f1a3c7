"""An out-of-memory error in a trace: what was asked for, why nothing fitted, and what would have made it fit."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tenure.allocator.advisor import CANDIDATES
from tenure.allocator.at_peak import Composition, composition
from tenure.allocator.call_sites import call_sites
from tenure.allocator.confirmed import is_confirmed
from tenure.allocator.moment import Room, rooms_after
from tenure.allocator.replay import Replay
from tenure.allocator.roles import BlockRole
from tenure.allocator.settings import SMALL_SIZE, AllocatorSettings, parse_settings
from tenure.allocator.story import Story
from tenure.allocator.what_if import Course, course_of, outcome_of, outcome_under, without
from tenure.model.allocator import DEFAULT_POOL, Action, PoolId, Snapshot

_RELEASABLE = (
    BlockRole.SURVIVOR,
    BlockRole.OUTPUT,
    BlockRole.GRADIENT,
    BlockRole.INPUT,
    BlockRole.RESIDENT,
    BlockRole.UNKNOWN,
)
"""Roles that a step may do without; parameters, states and activations are what it needs."""
_MOST_RELEASES = 6


@dataclass(frozen=True)
class FreeMemory:
    """Free bytes in the allocator's segments, by why they could not serve the request.

    `same` lies in its pool and stream, in blocks of at most `largest`. `other_size` is of its pool's other class of
    sizes, `other_streams` of its pool, `other_pools` of private pools, or outside of the private one that asked.
    """

    largest: int
    same: int
    other_size: int
    other_streams: int
    other_pools: int


@dataclass(frozen=True)
class Release:
    """Blocks of one place and role; without them the request is served, by replay."""

    stack: int
    role: BlockRole
    num_blocks: int
    bytes: int


@dataclass(frozen=True)
class OutOfMemory:
    """The last of `num_errors` errors. `asked_bytes` may be rounded up, as torch writes it.

    `segment_bytes` was the device asked for, of which it had `device_free_bytes` left; `limit_bytes` are these and what
    was reserved. `settings` serve the request by replay, those first that recorded traces have confirmed, then least
    reserved first; so do `releases`, smallest first. Both are None where the replay of what was recorded does not run
    out of memory as well.
    """

    event: int
    num_errors: int
    asked_bytes: int
    stream: int
    pool: PoolId
    stack: int
    segment_bytes: int
    device_free_bytes: int
    reserved_bytes: int
    in_use_bytes: int
    free: FreeMemory
    in_use: Composition
    settings: tuple[str, ...] | None
    releases: tuple[Release, ...] | None

    @property
    def limit_bytes(self) -> int:
        """What this process could have reserved."""
        return self.reserved_bytes + self.device_free_bytes

    @property
    def lacking_bytes(self) -> int:
        """What this process would need beyond its limit if no byte of it were lost: 0 where it would fit."""
        return max(self.in_use_bytes + self.asked_bytes - self.limit_bytes, 0)

    @property
    def is_held_back(self) -> bool:
        """Whether the device had enough: then a fraction that was set for the process stood in the way."""
        return self.device_free_bytes >= self.segment_bytes


def out_of_memory_in(snapshot: Snapshot, replay: Replay, story: Story) -> OutOfMemory | None:
    """The last error of a device; None where there is none, or the replay does not lead to it. Cost: some thirty
    replays."""
    events = snapshot.traces.get(replay.device)
    errors = np.flatnonzero(events.action == Action.OOM) if events is not None else np.zeros(0, dtype=np.int64)
    if events is None or not len(errors):
        return None
    event = int(errors[-1])
    rooms = rooms_after(snapshot, replay.device, story, event)
    if rooms is None:
        return None
    pool_row = int(events.pool[event])
    asked, stream = int(events.bytes[event]), int(events.stream[event])
    pool = snapshot.pools[pool_row] if pool_row >= 0 else DEFAULT_POOL
    size = replay.settings.round_bytes(asked)
    reserved = sum(room.bytes for room in rooms)
    limit = reserved + max(int(events.address[event]), 0)
    settings, releases = _served_by(snapshot, story, course_of(snapshot, replay.device), event, limit, len(errors))
    return OutOfMemory(
        event=event,
        num_errors=len(errors),
        asked_bytes=asked,
        stream=stream,
        pool=pool,
        stack=int(events.stack[event]),
        segment_bytes=replay.settings.segment_bytes(size),
        device_free_bytes=max(int(events.address[event]), 0),
        reserved_bytes=reserved,
        in_use_bytes=reserved - sum(room.free_bytes for room in rooms),
        free=_free(rooms, stream, pool, is_small=size <= SMALL_SIZE),
        in_use=composition(snapshot, story, event),
        settings=settings,
        releases=releases,
    )


def _free(rooms: tuple[Room, ...], stream: int, pool: PoolId, *, is_small: bool) -> FreeMemory:
    of_pool = [room for room in rooms if room.pool == pool]
    of_stream = [room for room in of_pool if room.stream == stream]
    same = [room for room in of_stream if room.is_small == is_small]
    free = sum(room.free_bytes for room in rooms)
    in_pool, in_stream, in_same = (sum(room.free_bytes for room in each) for each in (of_pool, of_stream, same))
    largest = max((size for room in same for size in room.free), default=0)
    return FreeMemory(largest, in_same, in_stream - in_same, in_pool - in_stream, free - in_pool)


def _served_by(
    snapshot: Snapshot, story: Story, course: Course, event: int, limit: int, error: int
) -> tuple[tuple[str, ...] | None, tuple[Release, ...] | None]:
    """Settings and releases under which the same requests fit into the same memory."""
    if outcome_of(course, total_bytes=limit, error=error).fits:
        return None, None
    releases = tuple(
        release
        for release, rows in _releases(snapshot, story, event)
        if outcome_of(without(course, rows), total_bytes=limit, error=error).fits
    )
    if outcome_under(course, course.settings, total_bytes=limit, error=error).fits:
        return None, releases  # what was there before the trace lies better when it is asked for first
    return _settings(course, limit, error), releases


def _settings(course: Course, limit: int, error: int) -> tuple[str, ...]:
    found = []
    for text in CANDIDATES:
        settings: AllocatorSettings = parse_settings(text)
        if settings != course.settings:
            outcome = outcome_under(course, settings, total_bytes=limit, error=error)
            rank = (not is_confirmed(settings), outcome.peak_reserved_bytes, len(text), text)
            found += [rank] if outcome.fits else []
    return tuple(text for *_, text in sorted(found))


def _releases(snapshot: Snapshot, story: Story, event: int) -> list[tuple[Release, set[int]]]:
    """What is in use by place and role, as far as a step may do without it: the largest, smallest first."""
    sites = call_sites(snapshot)
    groups: defaultdict[tuple[int, BlockRole], set[int]] = defaultdict(set)
    for row in story.lives.in_use_after(event).tolist():
        role = BlockRole(int(story.role[row]))
        if role in _RELEASABLE:
            groups[int(sites[story.lives.stack[row]]), role].add(row)
    found = [
        (Release(stack, role, len(rows), int(story.lives.bytes[sorted(rows)].sum())), rows)
        for (stack, role), rows in groups.items()
    ]
    found.sort(key=lambda each: each[0].bytes)
    return found[-_MOST_RELEASES:]
