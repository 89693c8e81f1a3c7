"""A recording's counters read as a whole, whether its run goes on or is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.watching.composition import at_the_peak, bytes_by_role, carried_into_forward, where_memory_ran_out
from tenure.analysis.watching.counter_series import Numbers, counter_series
from tenure.analysis.watching.fragmentation import find_fragmentation
from tenure.analysis.watching.inputs import find_input_effect
from tenure.analysis.watching.limits import Room, room_of, seconds_per_step
from tenure.analysis.watching.peaks import find_peak_shares, find_peaks
from tenure.analysis.watching.periods import find_sawtooth
from tenure.analysis.watching.phase_peaks import read_phase_peaks
from tenure.analysis.watching.phases import find_phases
from tenure.analysis.watching.running_out import steps_until
from tenure.analysis.watching.slow_growth import find_slow_growth
from tenure.analysis.watching.step_phases import read_step_phases
from tenure.model.growth_rule import LEAST_RISE
from tenure.model.outlook import Ahead, CounterGrowth, CounterOutlook, RunOutlook
from tenure.model.recording import Recording, Step
from tenure.model.row_columns import RowColumns

COUNTERS = ("allocated_bytes", "reserved_bytes", "rss_bytes", "pinned_bytes")


def read_outlook(recording: Recording) -> RunOutlook:
    """All of it; a second or two for a million steps, as each counter's column is read and thinned."""
    each = seconds_per_step(recording.steps)
    fragmentation = find_fragmentation(recording.steps)
    inputs = find_input_effect(recording.steps)
    roles, peak = bytes_by_role(recording.censuses), at_the_peak(recording.censuses)
    step, seconds = _last(recording.steps)
    return RunOutlook(
        path=recording.path,
        rank=recording.process.get("rank"),
        steps=step,
        seconds=seconds,
        seconds_per_step=each,
        end=recording.how_it_ended,
        counters=tuple(_outlooks(recording, each)),
        beside_allocator_bytes=_beside_allocator(recording),
        split_share=fragmentation.split_share if fragmentation else None,
        idle_share=fragmentation.idle_share if fragmentation else None,
        largest_input=(inputs.worst_elements, inputs.worst_step) if inputs else None,
        longest_input=inputs.longest if inputs else None,
        peak_bytes_per_element=inputs.bytes_per_element if inputs else None,
        roles=roles[-1][1] if roles else {},
        roles_at=roles[-1][0] if roles else None,
        roles_at_peak=peak[1] if peak else {},
        notes=tuple(note.text for note in recording.notes if note.level != "info"),
        peaks=find_peaks(recording.steps, recording.censuses),
        peak_shares=find_peak_shares(recording.steps),
        carried_into_forward=carried_into_forward(recording.censuses),
        ran_out=where_memory_ran_out(recording.censuses),
        phase_peaks=read_phase_peaks(recording.path, recording.profiles),
        step_phases=read_step_phases(recording.steps),
        idle_grows_per_step=fragmentation.drift.per_step if fragmentation and fragmentation.drift else None,
    )


def read_growth(recording: Recording) -> tuple[CounterGrowth, ...]:
    """Of the counters those that grow, and no more: half of what the whole outlook costs."""
    each = seconds_per_step(recording.steps)
    rows = {name: counter_series(recording.steps, name) for name in COUNTERS}
    found = (_growth(name, *rows[name], room_of(name, recording), each) for name in COUNTERS if len(rows[name][0]))
    return tuple(growth for growth in found if growth is not None)


def _growth(
    name: str, steps: Numbers, values: Numbers, room: Room | None, seconds_per_step: float | None
) -> CounterGrowth | None:
    growth = find_slow_growth(steps, values, least_rise=LEAST_RISE[name])
    if growth is None:
        return None
    ahead = None
    if room is not None:
        shown = steps >= growth.first_step
        told = steps_until(steps[shown], values[shown], float(values[-1]) + room.left_bytes)
        if told is not None:
            ahead = Ahead(room.limit, room.left_bytes, told.steps, told.soonest, told.latest, seconds_per_step)
    return CounterGrowth(name, growth.per_step, growth.error, growth.first_step, ahead)


def _outlooks(recording: Recording, seconds_per_step: float | None) -> Sequence[CounterOutlook]:
    found = []
    for name in COUNTERS:
        steps, values = counter_series(recording.steps, name)
        if len(values):
            found.append(_outlook(name, steps, values, room_of(name, recording), seconds_per_step))
    return found


def _outlook(
    name: str, steps: Numbers, values: Numbers, room: Room | None, seconds_per_step: float | None
) -> CounterOutlook:
    growth = _growth(name, steps, values, room, seconds_per_step)
    saw, phase = find_sawtooth(steps, values), find_phases(steps, values)[-1]
    return CounterOutlook(
        name=name,
        last_bytes=int(values[-1]),
        highest_bytes=int(values.max()),
        baseline_bytes=phase.baseline_bytes,
        phase_from=phase.first_step,
        grows_per_step=growth.per_step if growth else None,
        grows_error=growth.error if growth else None,
        grows_from=growth.first_step if growth else None,
        period_steps=saw.period if saw else None,
        amplitude_bytes=round(saw.amplitude) if saw else None,
        ahead=growth.ahead if growth else None,
    )


def _last(steps: Sequence[Step]) -> tuple[int, float]:
    """The last step and its time; 0 where there is none."""
    if isinstance(steps, RowColumns):
        return steps.last()
    return (steps[-1].step, steps[-1].time) if steps else (0, 0.0)


def _beside_allocator(recording: Recording) -> int | None:
    """The driver's figure for this process at the last sample that has one, less what was reserved then."""
    at, process = counter_series(recording.samples, "device_process_bytes")
    steps, reserved = counter_series(recording.steps, "reserved_bytes")
    if not len(process) or not len(reserved):
        return None
    before = max(0, int(np.searchsorted(steps, at[-1], side="right")) - 1)
    return max(0, int(process[-1] - reserved[before]))
