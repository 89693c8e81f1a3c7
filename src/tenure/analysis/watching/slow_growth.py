"""Growth so slow that noise hides it from step to step: found in rows of counters, silent on healthy runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.explained import explained
from tenure.analysis.watching.periods import without_sawtooth
from tenure.analysis.watching.robust import signed_rank, slope_with_error
from tenure.analysis.watching.warm_up import warm_up_end
from tenure.model.growth_rule import PARTS, SURE_OF_CHANGES, goes_on_rising, rises_throughout

WINDOWS = (500, 2000)
"""The last so many steps are looked at by themselves, beside the whole run: growth may have begun late."""
FEWEST_POINTS = 100
CHANGES = 24
SURE_IN_NOISE = 2.0
"""The same where the row was shown to be no random walk: a line with noise that has no memory."""


@dataclass(frozen=True)
class SlowGrowth:
    """A counter that grows: by how many bytes per step, with the standard error, over the steps looked at."""

    per_step: float
    error: float
    first_step: int
    last_step: int


def find_slow_growth(steps: Numbers, values: Numbers, *, least_rise: float = 0.0) -> SlowGrowth | None:
    """Growth in the last 500 or 2,000 steps or the whole run after warm-up; None for a healthy row.

    Told only where each quarter lies higher than the one before, the last by `least_rise` above the first, at least
    three quarters and the last rise by themselves, the last not much more slowly than those before, and the changes
    between 24 medians are positive by their ranks. So single jumps, caches that fill within half of what is looked at,
    periods of up to a third of it and noise of any distribution are silent; what fills or saws more slowly is told
    until it stops.
    Below a filling, a sawtooth and jumps a small leak shows once they are taken off, which is done where noise is left.
    """
    found = (_in_window(*window, least_rise=least_rise) for window in _windows(steps, values))
    return next((growth for growth in found if growth is not None), None)


def _windows(steps: Numbers, values: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    if len(steps) < FEWEST_POINTS:
        return
    start = warm_up_end(steps, values)
    yield steps[start:], values[start:]
    for length in reversed(WINDOWS):
        recent = steps > steps[-1] - length
        if steps[-1] - steps[start] > length:
            yield steps[recent], values[recent]


def _in_window(steps: Numbers, values: Numbers, *, least_rise: float) -> SlowGrowth | None:
    """Of the row less its sawtooth; where that does not tell, of what is left when all that it can be explained by is
    taken off."""
    if len(steps) < FEWEST_POINTS:
        return None
    calm = without_sawtooth(steps, values)
    if not _rises_throughout(*thinned(steps, calm), least_rise=least_rise):
        return None
    found = _growth(steps, calm, sure=SURE_OF_CHANGES)
    if found is not None:
        return found
    row = explained(steps, values)
    return None if row is None else _growth(steps, row, sure=SURE_IN_NOISE)


def _growth(steps: Numbers, values: Numbers, *, sure: float) -> SlowGrowth | None:
    at, seen = thinned(steps, values)
    if not _rises_throughout(at, seen):
        return None
    if not goes_on_rising([slope_with_error(at[part], seen[part]) for part in _parts(at)]):
        return None
    medians = thinned(at, seen, most=CHANGES + 1)[1]
    if signed_rank(np.diff(medians)) < sure:
        return None
    slope, error = slope_with_error(at, seen)
    return SlowGrowth(slope, error, int(steps[0]), int(steps[-1]))


def _rises_throughout(steps: Numbers, values: Numbers, *, least_rise: float = 0.0) -> bool:
    return rises_throughout([float(np.median(values[part])) for part in _parts(steps)], least_rise=least_rise)


def _parts(steps: Numbers) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    return [np.asarray(part) for part in np.array_split(np.arange(len(steps)), PARTS)]
