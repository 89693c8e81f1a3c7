"""When a growing counter meets its limit: the step, and an interval that holds it in nine of ten runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.periods import without_sawtooth
from tenure.analysis.watching.robust import slope_with_error

STUDENT = 2.015
"""Student's t at 95 % for five degrees of freedom: of so many independent stretches the wandering is told."""
MEDIANS = 24
STRETCH = 4
"""Medians between two whose difference tells of wandering: noise around the line counts little there."""
NO_LINE = 0.03
"""No program grows in a straight line: what the other errors leave out, at both ends."""
FURTHEST = 1e9
"""Steps beyond which nothing is told."""


@dataclass(frozen=True)
class RunningOut:
    """Steps from the last one on until the limit is met, and the interval of 90 %; None: no end can be told."""

    steps: float
    soonest: float
    latest: float | None


def steps_until(steps: Numbers, values: Numbers, limit: float) -> RunningOut | None:
    """When the row first reaches `limit` if it goes on as it did; None where its slope is not above zero.

    It is the row's highest values that meet the limit, so noise, a sawtooth and single peaks as high as the highest
    seen are taken to come again, and at the soonest one more jump like the largest. Two errors widen the interval with
    the distance: that of the slope, and what a row that sums up random sizes wanders off its mean (drifted Brownian
    motion, its scale from stretches of a sixth).
    """
    calm = without_sawtooth(steps, values)
    at, seen = thinned(steps, calm)
    slope, error = slope_with_error(at, seen)
    if slope <= 0:
        return None
    wander = _wander(at, seen, slope)
    error = max(error, float(np.sqrt(wander / (at[-1] - at[0]))))
    above = _above_the_end(steps, values, at, seen, slope)
    room = [limit - float(np.quantile(above, share)) for share in (0.5, 0.95, 1.0)]

    def bound(sign: float) -> Callable[[float], float]:
        return lambda ahead: slope * ahead + sign * STUDENT * float(np.sqrt((error * ahead) ** 2 + wander * ahead))

    expected, latest = max(0.0, room[1] / slope), _first_time(bound(-1.0), room[0])
    soonest = _first_time(bound(1.0), room[2] - _largest_jump(steps, calm, slope)) or 0.0
    return RunningOut(
        steps=expected,
        soonest=(1 - NO_LINE) * min(soonest, expected),
        latest=None if latest is None else (1 + NO_LINE) * max(latest, expected),
    )


def _wander(steps: Numbers, values: Numbers, slope: float) -> float:
    """Squared bytes per step by which the row leaves its line for good."""
    at, medians = thinned(steps, values, most=MEDIANS)
    if len(medians) <= STRETCH:
        return 0.0
    off = medians - slope * at
    return float(np.mean((off[STRETCH:] - off[:-STRETCH]) ** 2 / (at[STRETCH:] - at[:-STRETCH])))


def _largest_jump(steps: Numbers, values: Numbers, slope: float) -> float:
    """Above the line, between neighbouring medians: a pool that grew, and may once more."""
    at, medians = thinned(steps, values, most=MEDIANS)
    return max(0.0, float(np.max(np.diff(medians - slope * at)))) if len(medians) > 1 else 0.0


def _above_the_end(steps: Numbers, values: Numbers, at: Numbers, seen: Numbers, slope: float) -> Numbers:
    """Where the later half of the row would stand at its last step: the line's end and what lies above it.

    The line is laid through the end's own level, which a wandering row has left the whole line for.
    """
    late = len(steps) // 2
    level = float(np.median((seen - slope * at)[-max(1, len(at) // 12) :])) + slope * float(steps[-1])
    line = values[late:] - slope * (steps[late:] - steps[-1])
    around = line - np.median(line)
    return np.asarray(level + np.maximum(around, 0.0))


def _first_time(course: Callable[[float], float], room: float) -> float | None:
    """The least time at which `course` has risen by `room`, to a thousandth; None where it does not in sight."""
    if room <= 0:
        return 0.0
    high = 1.0
    while course(high) < room:
        high *= 2
        if high > FURTHEST:
            return None
    low = 0.0
    while high - low > max(1e-3 * high, 0.5):
        middle = (low + high) / 2
        low, high = (middle, high) if course(middle) < room else (low, middle)
    return high
