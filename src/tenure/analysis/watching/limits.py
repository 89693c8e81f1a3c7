"""How far memory may still rise: what the device, the cgroup or the machine had left when it was last read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.analysis.watching.counter_series import counter_series
from tenure.model.finding import Limit
from tenure.model.recording import Recording, Sample, Step
from tenure.model.row_columns import RowColumns

LATE_SHARE = 0.5
"""Seconds per step are those of the later half of a run: the first steps compile, tune and warm caches."""
_OF_ALLOCATOR = ("allocated_bytes", "reserved_bytes")
_OF_HOST = ("rss_bytes", "pinned_bytes")
_DEVICES = ("cuda", "xpu")
_HOST_DEVICES = ("cpu", "host")


@dataclass(frozen=True)
class Room:
    """Bytes by which memory may rise above what it was at the last step, and what ends it there."""

    limit: Limit
    left_bytes: int


def room_of(name: str, recording: Recording) -> Room | None:
    """How far the counter `name` may rise; None where the limit was not recorded."""
    if name in _OF_ALLOCATOR:
        return _device_room(recording.steps, in_cache=name == "allocated_bytes")
    return _host_room(recording.steps, recording.samples) if name in _OF_HOST else None


def room_left(device: str, steps: Sequence[Step], samples: Sequence[Sample] = (), *, processes: int = 1) -> Room | None:
    """How far tensors on `device` may grow; None where that was not read.

    Of a device, what torch's allocator may still take, its own cache included, above the highest peak. `processes` of
    one machine share the host's memory and are taken to grow alike.
    """
    kind, _, number = device.partition(":")
    if kind in _DEVICES:
        index = _last(steps, "device_index")[0]
        return _device_room(steps, in_cache=True) if number in ("", str(index)) else None
    return _host_room(steps, samples, max(1, processes)) if device in _HOST_DEVICES else None


def seconds_per_step(steps: Sequence[Step]) -> float | None:
    """Of the later half, our own censuses not counted; None where there is no step."""
    late = steps[int(len(steps) * LATE_SHARE) :]
    if isinstance(late, RowColumns):
        return late.mean_seconds() if len(late) else None
    return float(np.mean([step.seconds for step in late])) if late else None


def _device_room(steps: Sequence[Step], *, in_cache: bool) -> Room | None:
    """What the allocator may still take; `in_cache` also of what it has, above the highest peak of what is used."""
    free, read_at = _last(steps, "device_free_bytes")
    then = _value_at(steps, "reserved_bytes", read_at) or 0
    used = _last(steps, "allocated_peak_bytes" if in_cache else "reserved_bytes")[0]
    if free is None or used is None:
        return None
    allowed = _last(steps, "device_allowed_bytes")[0]
    return Room("device", max(0, (free + then if allowed is None else min(free + then, allowed)) - used))


def _host_room(steps: Sequence[Step], samples: Sequence[Sample], processes: int = 1) -> Room | None:
    """By the last sample that says it, or the last step; what resident memory rose since is taken off."""
    rows: Sequence[Sample] | Sequence[Step] = samples
    available, read_at = _last(rows, "host_available_bytes")
    if available is None:
        rows = steps
        available, read_at = _last(rows, "host_available_bytes")
    if available is None:
        return None
    rooms: list[tuple[Limit, int]] = [("host", available)]
    limit, used = _last(rows, "cgroup_limit_bytes")[0], _last(rows, "cgroup_used_bytes")[0]
    if limit is not None and used is not None:
        rooms.append(("cgroup", limit - used))
    what, left = min(rooms, key=lambda room: room[1])
    resident, then = _last(steps, "rss_bytes")[0], _value_at(rows, "rss_bytes", read_at)
    since = resident - then if resident is not None and then is not None else 0
    return Room(what, max(0, left // processes - since))


def _last(rows: Sequence[Step] | Sequence[Sample], name: str) -> tuple[int | None, float]:
    """The last value of a counter, and the step it is from."""
    steps, values = counter_series(rows, name)
    return (int(values[-1]), float(steps[-1])) if len(values) else (None, 0.0)


def _value_at(rows: Sequence[Step] | Sequence[Sample], name: str, step: float) -> int | None:
    """The counter's last value up to a step."""
    steps, values = counter_series(rows, name)
    before = values[steps <= step]
    return int(before[-1]) if len(before) else None
