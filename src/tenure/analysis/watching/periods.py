"""Sawtooth: a row that rises and falls with a period, whatever grows below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenure.analysis.watching.counter_series import Numbers
from tenure.analysis.watching.filled_steps import filled, may_be_filled
from tenure.analysis.watching.robust import scatter_of, slope_with_error

LEAST_ALIKE = 0.5
"""Correlation of the row with itself a period later."""
NEARLY = 0.9
"""Of several lags that correlate nearly as well as the best, the shortest is the period."""
LEFT = 0.5
"""A period is one that leaves less than half of the row's scatter when its course is taken off."""
STAIRS = 1.5
"""Times what the row grows by in a period: stairs, less their slope, are no sawtooth. A sawtooth changes most against
the slope, stairs along with it."""
FEWEST_PERIODS = 3
JUMP = 8.0
"""Standard deviations of the changes from step to step: larger rises are jumps."""
MOST_JUMPS = 8
FEWEST_POINTS = 30
LEAST_FREE = 0.4
"""Of the values of a row with missing steps, those beyond one for each phase of the period."""


@dataclass(frozen=True)
class Sawtooth:
    """Steps between falls, and from the lowest to the highest of the mean period in bytes."""

    period: int
    amplitude: float


def find_sawtooth(steps: Numbers, values: Numbers) -> Sawtooth | None:
    """The period of a row, by its correlation with itself; None where it has none, or most steps are missing.

    At least three periods must lie in the row. Between steps that were read it is taken to run straight.
    """
    found = _pattern(steps, values)
    return None if found is None else Sawtooth(len(found), float(np.ptp(found)))


def without_sawtooth(steps: Numbers, values: Numbers) -> Numbers:
    """The same row less what comes again with each period; the row itself where it has none."""
    found = _pattern(steps, values)
    return values if found is None else values - _again(found, steps)


def sawtooth_course(steps: Numbers, values: Numbers) -> Numbers | None:
    """What comes again with each period, at each step; None where nothing does. Jumps are not looked below."""
    if len(values) < FEWEST_POINTS or not may_be_filled(steps):
        return None
    found = _pattern_of(steps, values)
    return None if found is None else _again(found, steps)


def _again(course: Numbers, steps: Numbers) -> Numbers:
    again: Numbers = course[(steps - steps[0]).astype(np.int64) % len(course)]
    return again


def _pattern(steps: Numbers, values: Numbers) -> Numbers | None:
    """Of the row, or, where it has none, of the row less its jumps."""
    if len(values) < FEWEST_POINTS or not may_be_filled(steps):
        return None
    found = _pattern_of(steps, values)
    if found is None and (risen := risen_at_once(values)) is not None:
        return _pattern_of(steps, values - risen)
    return found


def _pattern_of(steps: Numbers, values: Numbers) -> Numbers | None:
    """The median course of one period around its own mean, beginning with the first step."""
    calm = without_single(values)
    smooth, full = filled(steps, calm), filled(steps, values)
    at = np.arange(float(len(full)))
    slope, _ = slope_with_error(at, smooth)
    period = _period(smooth - slope * at)
    if period is not None and len(full) > len(values):
        period = _nearest_period(steps, calm, period)
    if period is None:
        return None
    slope = _slope_over(full, period)
    flat = full - slope * at
    course = _course(flat, period)
    if scatter_of(flat - _again(course, at)) >= LEFT * scatter_of(flat) or _is_stairs(course, slope):
        return None
    return np.asarray(course - course.mean())


def _slope_over(values: Numbers, period: int) -> float:
    """Over whole periods: a slope across parts of them tilts the course."""
    apart = period * (len(values) // period // 2)
    return float(np.median(values[apart:] - values[:-apart])) / apart


def _nearest_period(steps: Numbers, values: Numbers, about: int) -> int | None:
    """Of the periods `about` as long the one whose course leaves least of what was read. None where too little was.

    Where steps are missing a row lies as much like itself some steps beside its period, and what that leaves is a
    slope: only the falls, which few of the values see, tell one from the other. So squares are summed.
    """
    gap = int(np.diff(steps).max())
    read, full = (steps - steps[0]).astype(np.int64), filled(steps, values)
    best, found = np.inf, None
    for period in range(max(2, about - gap), min(about + gap, len(full) // FEWEST_PERIODS) + 1):
        phases = read % period
        left = values - _slope_over(full, period) * read
        sums, counts = np.bincount(phases, left), np.bincount(phases)
        free = len(read) - np.count_nonzero(counts)
        if free < LEAST_FREE * len(read):
            return None
        squares = float(np.sum((left - (sums / np.maximum(counts, 1))[phases]) ** 2)) / free
        if squares < best:
            best, found = squares, period
    return found


def _is_stairs(course: Numbers, slope: float) -> bool:
    changes = np.diff(course, append=course[0])
    along = float(changes[np.argmax(np.abs(changes))]) * slope > 0
    return along and float(np.ptp(course)) <= STAIRS * abs(slope) * len(course)


def _course(flat: Numbers, period: int) -> Numbers:
    """The median of each phase of the period; the last period may be cut."""
    whole, rest = divmod(len(flat), period)
    short = flat[: whole * period].reshape(whole, period)[:, rest:]
    if not rest:
        return np.asarray(np.median(short, axis=0))
    long = np.concatenate([flat[: whole * period].reshape(whole, period)[:, :rest], flat[None, whole * period :]])
    return np.concatenate([np.median(long, axis=0), np.median(short, axis=0)])


def risen_at_once(values: Numbers, *, alone: bool = False) -> Numbers | None:
    """What the row has risen by in its few largest jumps until each step: pools that grew, which hide a period. None
    where there are no jumps, or more than `MOST_JUMPS`.

    Falls stay, for a sawtooth's are as large. `alone` are jumps by more than the row rises two steps before and after.
    """
    rises = np.diff(without_single(values), prepend=values[0])
    around = np.maximum(np.maximum(np.roll(rises, 2), np.roll(rises, -2)), 0.0) if alone else 0.0
    jumps = np.flatnonzero(rises - around > JUMP * scatter_of(rises))
    if not 0 < len(jumps) <= MOST_JUMPS:
        return None
    return np.cumsum(np.where(np.isin(np.arange(len(values)), jumps), rises, 0.0))


def without_single(values: Numbers) -> Numbers:
    """The median of each value and its neighbours: what an evaluation leaves for one step is gone."""
    before, here, after = values[:-2], values[1:-1], values[2:]
    inner = np.maximum(np.minimum(before, here), np.minimum(np.maximum(before, here), after))
    return np.concatenate([values[:1], inner, values[-1:]])


def _period(flat: Numbers) -> int | None:
    count, lags = len(flat), len(flat) // FEWEST_PERIODS + 1
    length = _fast_length(count + lags)
    spectrum = np.fft.rfft(flat - flat.mean(), length)
    alike = np.fft.irfft(np.abs(spectrum) ** 2, length)[:lags]
    if alike[0] <= 0:
        return None
    # Fewer products go into longer lags.
    alike = alike / alike[0] * count / (count - np.arange(len(alike)))
    below = np.flatnonzero(alike <= 0)
    if not len(below):
        return None
    after = int(below[0])
    best = float(alike[after:].max())
    if best < LEAST_ALIKE:
        return None
    first = after + int(np.flatnonzero(alike[after:] >= NEARLY * best)[0])
    while first + 1 < len(alike) and alike[first + 1] > alike[first]:
        first += 1
    return first


def _fast_length(least: int) -> int:
    """The smallest length from `least` on that is a small odd number times a power of two: others take up to twenty
    times as long to transform."""
    return min(odd << max(0, (-(-least // odd) - 1).bit_length()) for odd in (1, 3, 5, 9, 15))
