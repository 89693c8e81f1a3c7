"""How far a counter may still rise: what the device, the cgroup or the machine had left when it was last read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenure.analysis.watching.counter_series import counter_series
from tenure.model.finding import Limit
from tenure.model.recording import Recording, Sample, Step


@dataclass(frozen=True)
class Room:
    """Bytes by which a counter may rise above its last value, and what ends it there."""

    limit: Limit
    left_bytes: int


def room_of(name: str, recording: Recording) -> Room | None:
    """None where the limit was not recorded."""
    if name in ("allocated_bytes", "reserved_bytes"):
        return _device_room(name, recording.steps)
    return _host_room(recording) if name in ("rss_bytes", "pinned_bytes") else None


def _device_room(name: str, steps: Sequence[Step]) -> Room | None:
    """What the allocator may still take; of what is allocated, its own cache too, above the highest peak."""
    free, read_at = _last(steps, "device_free_bytes")
    reserved, _ = _last(steps, "reserved_bytes")
    then = _value_at(steps, "reserved_bytes", read_at)
    if free is None or reserved is None or then is None:
        return None
    left = free + then - reserved
    if name == "allocated_bytes":
        peak, _ = _last(steps, "allocated_peak_bytes")
        left += reserved - (peak if peak is not None else reserved)
    return Room("device", max(0, left))


def _host_room(recording: Recording) -> Room | None:
    """By the last sample that says it, or the last step; what resident memory rose since is taken off."""
    rows: Sequence[Sample] | Sequence[Step] = recording.samples
    available, read_at = _last(rows, "host_available_bytes")
    if available is None:
        rows = recording.steps
        available, read_at = _last(rows, "host_available_bytes")
    if available is None:
        return None
    rooms: list[tuple[Limit, int]] = [("host", available)]
    limit, used = _last(rows, "cgroup_limit_bytes")[0], _last(rows, "cgroup_used_bytes")[0]
    if limit is not None and used is not None:
        rooms.append(("cgroup", limit - used))
    what, left = min(rooms, key=lambda room: room[1])
    resident, then = _last(recording.steps, "rss_bytes")[0], _value_at(rows, "rss_bytes", read_at)
    since = resident - then if resident is not None and then is not None else 0
    return Room(what, max(0, left - since))


def _last(rows: Sequence[Step] | Sequence[Sample], name: str) -> tuple[int | None, float]:
    """The last value of a counter, and the step it is from."""
    steps, values = counter_series(rows, name)
    return (int(values[-1]), float(steps[-1])) if len(values) else (None, 0.0)


def _value_at(rows: Sequence[Step] | Sequence[Sample], name: str, step: float) -> int | None:
    """The counter's last value up to a step."""
    steps, values = counter_series(rows, name)
    before = values[steps <= step]
    return int(before[-1]) if len(before) else None
