"""Fragmentation explained: which blocks keep which free memory from being used whole, and what would have helped.

Looked at when most was reserved, or at the peak where that was before the trace. What is said of another order is
replayed, not guessed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tenure.allocator.advisor import LEAST_GAIN, LEAST_GAIN_BYTES
from tenure.allocator.call_sites import call_sites
from tenure.allocator.moment import Room, rooms_after
from tenure.allocator.replay import Replay
from tenure.allocator.roles import BlockRole
from tenure.allocator.story import Story
from tenure.allocator.torch_frames import Phase
from tenure.allocator.what_if import Course, asked_first, course_of, in_own_pool, outcome_of, without
from tenure.model.allocator import Snapshot

_MOST_PLAYED = 3
"""Places for which other orders are played: three replays each."""
Place = tuple[int, BlockRole, Phase | None]


@dataclass(frozen=True)
class PinnedRoom:
    """A segment with free memory, and the block in it that stays longest: a row of the story's lives."""

    address: int
    bytes: int
    free_bytes: int
    row: int


@dataclass(frozen=True)
class Saved:
    """Bytes that would have been reserved less at the peak, by replay; None: not played.

    `absent`: had their place never asked for any, of which `held_bytes` were in use at the moment. `first`: had it
    asked for all of them at the trace's beginning. `own_pool`: had they come from a pool of their own.
    """

    absent: int | None = None
    first: int | None = None
    own_pool: int | None = None
    held_bytes: int = 0


@dataclass(frozen=True)
class Pin:
    """Free memory that blocks of one place pin together: `stuck_bytes` in `rooms`, by blocks of `pin_bytes`.

    `since_event` is when the oldest of these blocks was born, -1: before the trace.
    """

    stack: int
    role: BlockRole
    phase: Phase | None
    stuck_bytes: int
    pin_bytes: int
    since_event: int
    rooms: tuple[PinnedRoom, ...]
    saved: Saved


@dataclass(frozen=True)
class Fragmentation:
    """Memory after `event`, when most was reserved: `free_bytes` in segments without a block in use, `stuck_bytes`
    beside blocks in use. `pins` have the most stuck first."""

    event: int
    reserved_bytes: int
    free_bytes: int
    stuck_bytes: int
    pins: tuple[Pin, ...]


def fragmentation_of(snapshot: Snapshot, replay: Replay, story: Story) -> Fragmentation | None:
    """None where the replay does not lead to the moment. Cost: up to eleven replays, where memory is stuck."""
    event = replay.reserved.event if replay.reserved.event >= 0 else replay.active.event
    rooms = rooms_after(snapshot, replay.device, story, event)
    if rooms is None:
        return None
    by_place: defaultdict[Place, list[PinnedRoom]] = defaultdict(list)
    sites = call_sites(snapshot)
    for room in rooms:
        if room.rows and room.free:
            pinned = _pinned(room, story)
            by_place[_place(story, int(sites[story.lives.stack[pinned.row]]), pinned.row)].append(pinned)
    reserved = sum(room.bytes for room in rooms)
    pins = [_pin(story, place, tuple(found)) for place, found in by_place.items()]
    pins.sort(key=lambda pin: (-pin.stuck_bytes, pin.since_event))
    free = sum(room.free_bytes for room in rooms if not room.rows)
    stuck = sum(pin.stuck_bytes for pin in pins)
    played = _with_other_orders(snapshot, replay, story, pins, reserved, event)
    return Fragmentation(event, reserved, free, stuck, played)


def _pinned(room: Room, story: Story) -> PinnedRoom:
    longest = max(room.rows, key=lambda row: (int(story.lives.freed[row]), int(story.lives.bytes[row])))
    return PinnedRoom(room.address, room.bytes, room.free_bytes, longest)


def _place(story: Story, site: int, row: int) -> Place:
    born = int(story.lives.born[row])
    return site, BlockRole(int(story.role[row])), None if born < 0 else story.phase_at(born)


def _pin(story: Story, place: Place, rooms: tuple[PinnedRoom, ...]) -> Pin:
    rows = [room.row for room in rooms]
    rooms = tuple(sorted(rooms, key=lambda room: -room.free_bytes))
    return Pin(
        *place,
        stuck_bytes=sum(room.free_bytes for room in rooms),
        pin_bytes=int(story.lives.bytes[rows].sum()),
        since_event=int(story.lives.born[rows].min()),
        rooms=rooms,
        saved=Saved(),
    )


def _with_other_orders(
    snapshot: Snapshot, replay: Replay, story: Story, pins: list[Pin], reserved: int, event: int
) -> tuple[Pin, ...]:
    """Those that pin enough to be worth it, with what another order would have saved."""
    least = max(LEAST_GAIN * reserved, LEAST_GAIN_BYTES)
    worth = [pin for pin in pins[:_MOST_PLAYED] if pin.stuck_bytes >= least]
    if not worth:
        return tuple(pins)
    course = course_of(snapshot, replay.device)
    recorded = outcome_of(course).peak_reserved_bytes
    held = story.lives.in_use_after(event)
    played = [_with_saved(snapshot, story, pin, course, recorded, set(held.tolist())) for pin in worth]
    return (*played, *pins[len(worth) :])


def _with_saved(snapshot: Snapshot, story: Story, pin: Pin, course: Course, recorded: int, in_use: set[int]) -> Pin:
    lives = story.lives
    of_site = np.flatnonzero(call_sites(snapshot)[lives.stack] == pin.stack).tolist()
    of_place = {row for row in of_site if _place(story, pin.stack, row) == (pin.stack, pin.role, pin.phase)}

    def saved(other: Course) -> int:
        return recorded - outcome_of(other).peak_reserved_bytes

    in_trace = pin.phase is not None
    found = Saved(
        absent=saved(without(course, of_place)),
        first=saved(asked_first(course, of_place)) if in_trace else None,
        own_pool=saved(in_own_pool(course, of_place)) if in_trace else None,
        held_bytes=int(lives.bytes[sorted(of_place & in_use)].sum()),
    )
    return Pin(pin.stack, pin.role, pin.phase, pin.stuck_bytes, pin.pin_bytes, pin.since_event, pin.rooms, found)
