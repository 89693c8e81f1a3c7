"""How full memory was in the course of a trace: in use, asked for, and reserved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenure.allocator.earlier_state import state_before
from tenure.allocator.given_memory import first_given_twice
from tenure.allocator.lifetimes import Lives
from tenure.allocator.native import native_replay
from tenure.allocator.replay import levels_in_python
from tenure.allocator.settings import settings_of_snapshot
from tenure.model.allocator import Events, Snapshot
from tenure.model.heap import Ints

MOST_STRETCHES = 240


@dataclass(frozen=True)
class Timeline:
    """A trace in stretches of as many events each: the first event of each, its time, and the most bytes after any.

    `active` counts whole blocks, `requested` what was asked for in them.
    """

    event: Ints
    time_us: Ints
    active_bytes: Ints
    requested_bytes: Ints
    reserved_bytes: Ints


def timeline_of(snapshot: Snapshot, device: int, lives: Lives) -> Timeline | None:
    """None where there is no trace, or its replay was not played to the end. Cost: one replay."""
    events = snapshot.traces.get(device)
    if events is None or not len(events):
        return None
    levels = _natively(snapshot, device, events) or levels_in_python(snapshot, device)
    if levels is None:
        return None
    starts = np.unique(np.linspace(0, len(events), min(MOST_STRETCHES, len(events)), endpoint=False).astype(np.int64))
    active, requested, reserved = (
        np.maximum.reduceat(each, starts) for each in (levels[0], requested_after(lives), levels[1])
    )
    return Timeline(starts, events.time_us[starts], active, requested, reserved)


def requested_after(lives: Lives) -> Ints:
    """Bytes that were asked for and in use after each event."""
    changes = np.zeros(lives.num_events + 1, dtype=np.int64)
    np.add.at(changes, lives.born[~lives.is_earlier], lives.bytes[~lives.is_earlier])
    np.subtract.at(changes, lives.freed, lives.bytes)
    return int(lives.bytes[lives.is_earlier].sum()) + np.cumsum(changes[:-1])


def _natively(snapshot: Snapshot, device: int, events: Events) -> tuple[Ints, Ints] | None:
    settings = settings_of_snapshot(snapshot.settings)
    earlier = state_before(snapshot, device, settings)
    if first_given_twice(earlier, events) is not None:
        return None
    levels = np.zeros(len(events), dtype=np.int64), np.zeros(len(events), dtype=np.int64)
    found = native_replay(snapshot, device, earlier, settings, events, levels=levels)
    return None if found is None else levels
