"""How sure growth is, and when memory runs out if it goes on: measured rates laid beside what memory was left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenure.analysis.growth.slope_interval import slope_interval
from tenure.analysis.growth.trend import late_part
from tenure.model.finding import Forecast, Interval, Limit
from tenure.model.recording import Step
from tenure.model.suspect import Series, Suspect

LATE_SHARE = 0.5
"""Seconds per step are those of the later half of a run: the first steps compile, tune and warm caches."""
_HOST = ("cpu", "host")


def with_outlook(suspects: Iterable[Suspect], steps: Sequence[Step], *, processes: int = 1) -> tuple[Suspect, ...]:
    """The suspects of growth with an interval of each rate, and with a forecast where the room that is left is known.

    `processes` of one machine are taken to grow alike and share the host's memory.
    """
    return tuple(_with_outlook(suspect, steps, processes) for suspect in suspects)


def _with_outlook(suspect: Suspect, steps: Sequence[Step], processes: int) -> Suspect:
    if suspect.symptom != "growth":
        return suspect
    rate = suspect.growth_bytes_per_step
    of_bytes = _interval(suspect.series, suspect.series.bytes, rate)
    of_objects = _interval(suspect.series, suspect.series.objects, suspect.growth_objects_per_step)
    found = None
    if rate is not None and of_bytes is not None and of_bytes[0] > 0:
        found = _forecast(rate, of_bytes, room_left(suspect.device, steps, processes=processes), steps)
    return replace(suspect, bytes_interval=of_bytes, objects_interval=of_objects, forecast=found)


def _interval(series: Series, values: Sequence[int], rate: float | None) -> Interval | None:
    """The slope's interval, wide enough to hold the rate that is told."""
    found = slope_interval(*late_part(series.steps, values)) if rate is not None else None
    return (min(found[0], rate), max(found[1], rate)) if found and rate is not None else None


def _forecast(
    rate: float, of_bytes: Interval, room: tuple[Limit, int] | None, steps: Sequence[Step]
) -> Forecast | None:
    each = _seconds_per_step(steps)
    if room is None or each is None:
        return None
    limit, left = room
    soonest, latest = left / of_bytes[1], left / of_bytes[0]
    return Forecast(
        limit=limit,
        room_bytes=left,
        steps=left / rate,
        steps_interval=(soonest, latest),
        seconds=left / rate * each,
        seconds_interval=(soonest * each, latest * each),
    )


def room_left(device: str, steps: Sequence[Step], *, processes: int = 1) -> tuple[Limit, int] | None:
    """What limits this device's memory and how many bytes were left at the last step; None where that was not read.

    A device's room is what torch's allocator may still take, its own cache included, above the highest step's peak.
    """
    if device.startswith("cuda"):
        return _device_room(device, steps)
    return _host_room(steps, max(1, processes)) if device in _HOST else None


def _device_room(device: str, steps: Sequence[Step]) -> tuple[Limit, int] | None:
    read = next((step.counters for step in reversed(steps) if "device_free_bytes" in step.counters), None)
    last = next((step.counters for step in reversed(steps) if "allocated_peak_bytes" in step.counters), None)
    if read is None or last is None or device not in ("cuda", f"cuda:{read['device_index']}"):
        return None
    return "device", max(0, read["device_free_bytes"] + read.get("reserved_bytes", 0) - last["allocated_peak_bytes"])


def _host_room(steps: Sequence[Step], processes: int) -> tuple[Limit, int] | None:
    read = next((step.counters for step in reversed(steps) if "host_available_bytes" in step.counters), None)
    if read is None:
        return None
    rooms: list[tuple[Limit, int]] = [("host", read["host_available_bytes"])]
    if "cgroup_limit_bytes" in read:
        rooms.append(("cgroup", read["cgroup_limit_bytes"] - read["cgroup_used_bytes"]))
    limit, left = min(rooms, key=lambda room: room[1])
    resident = [step.counters["rss_bytes"] for step in reversed(steps) if "rss_bytes" in step.counters]
    since = resident[0] - read["rss_bytes"] if resident and "rss_bytes" in read else 0
    return limit, max(0, left // processes - since)


def _seconds_per_step(steps: Sequence[Step]) -> float | None:
    late = steps[int(len(steps) * LATE_SHARE) :]
    return sum(step.seconds for step in late) / len(late) if late else None
