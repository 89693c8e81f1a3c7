"""How sure a finding's growth is, and when memory runs out if it goes on: its rate beside what memory was left.

The rate is that of censuses, a dozen points without noise of their own; for long rows of counters see `running_out`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from tenure.analysis.growth.slope_interval import slope_interval
from tenure.analysis.growth.trend import late_part
from tenure.analysis.watching.limits import Room, room_left, seconds_per_step
from tenure.model.finding import Forecast, Interval
from tenure.model.recording import Sample, Step
from tenure.model.suspect import Series, Suspect


def with_outlook(
    suspects: Iterable[Suspect], steps: Sequence[Step], samples: Sequence[Sample] = (), *, processes: int = 1
) -> tuple[Suspect, ...]:
    """The suspects of growth with an interval of each rate, and with a forecast where the room that is left is known.

    `processes` of one machine are taken to grow alike and share the host's memory.
    """
    each = seconds_per_step(steps)
    rooms: dict[str, Room | None] = {}
    told = []
    for suspect in suspects:
        if suspect.symptom == "growth" and suspect.device not in rooms:
            rooms[suspect.device] = room_left(suspect.device, steps, samples, processes=processes)
        told.append(_with_outlook(suspect, rooms.get(suspect.device), each))
    return tuple(told)


def may_be_none(suspect: Suspect) -> bool:
    """Growth that was seen to fall, and so uneven that it may as well be none: neither its bytes nor its objects surely
    become more. Graphs that stay are nobody's wish, however they come."""
    if suspect.symptom != "growth" or suspect.through_graph:
        return False
    rates = (suspect.bytes_interval, suspect.objects_interval)
    fell = any(after < before for before, after in pairwise(suspect.series.objects))
    return fell and all(rate is not None and rate[0] < 0 for rate in rates)


def _with_outlook(suspect: Suspect, room: Room | None, each: float | None) -> Suspect:
    if suspect.symptom != "growth":
        return suspect
    rate = suspect.growth_bytes_per_step
    of_bytes = _interval(suspect.series, suspect.series.bytes, rate)
    of_objects = _interval(suspect.series, suspect.series.objects, suspect.growth_objects_per_step)
    found = None
    if rate is not None and of_bytes is not None and of_bytes[0] > 0:
        found = _forecast(rate, of_bytes, room, each)
    return replace(suspect, bytes_interval=of_bytes, objects_interval=of_objects, forecast=found)


def _interval(series: Series, values: Sequence[int], rate: float | None) -> Interval | None:
    """The slope's interval, wide enough to hold the rate that is told."""
    found = slope_interval(*late_part(series.steps, values)) if rate is not None else None
    return (min(found[0], rate), max(found[1], rate)) if found and rate is not None else None


def _forecast(rate: float, of_bytes: Interval, room: Room | None, each: float | None) -> Forecast | None:
    if room is None or each is None or not math.isfinite(each):
        return None
    left = room.left_bytes
    soonest, latest = left / of_bytes[1], left / of_bytes[0]
    return Forecast(
        limit=room.limit,
        room_bytes=left,
        steps=left / rate,
        steps_interval=(soonest, latest),
        seconds=left / rate * each,
        seconds_interval=(soonest * each, latest * each),
    )
