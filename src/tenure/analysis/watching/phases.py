"""Stretches of a run in which a counter keeps to one level, or one line: where it changes, and its baseline in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.periods import without_sawtooth
from tenure.analysis.watching.robust import scatter_of, slope_with_error
from tenure.analysis.watching.warm_up import warm_up_end

FEWEST_POINTS = 10
"""Of the thinned row: no phase is shorter."""
CHANCE = 1e-4
"""Of a change where there is none, by Pettitt's test; each stretch is asked once."""
LEAST_SHIFT = 3.0
"""Times the scatter within the phase."""
NEAR = 8
"""Pairs up to an eighth of a stretch apart tell its slope: a jump between two levels is in few of them."""
BASELINE_SHARE = 0.1
"""The tenth of the values that is lowest lies below the baseline."""


@dataclass(frozen=True)
class CounterPhase:
    """From step to step: the level that the counter falls back to, and its slope per step."""

    first_step: int
    last_step: int
    baseline_bytes: int
    per_step: float


def find_phases(steps: Numbers, values: Numbers) -> tuple[CounterPhase, ...]:
    """The phases after warm-up in order; one where nothing changes, none for an empty row.

    Rows of more than 500 steps are thinned to medians, so that a change is placed to the nearest of these.
    """
    if not len(values):
        return ()
    start = warm_up_end(steps, values) if len(values) > FEWEST_POINTS else 0
    at, calm = thinned(steps[start:], without_sawtooth(steps[start:], values[start:]))
    seen = thinned(steps[start:], values[start:])[1]
    edges = [0, *sorted(_changes(at, calm, 0)), len(at)]
    return tuple(_phase(at[a:b], seen[a:b], calm[a:b]) for a, b in pairwise(edges) if b > a)


def _phase(steps: Numbers, values: Numbers, calm: Numbers) -> CounterPhase:
    return CounterPhase(
        first_step=int(steps[0]),
        last_step=int(steps[-1]),
        baseline_bytes=int(np.quantile(values, BASELINE_SHARE)),
        per_step=slope_with_error(steps, calm)[0],
    )


def _changes(steps: Numbers, values: Numbers, offset: int) -> Iterator[int]:
    """Positions at which a new phase begins: the surest first, then those before and after it."""
    if len(values) < 2 * FEWEST_POINTS:
        return
    flat = values - _near_slope(steps, values) * steps
    split, chance = _pettitt(flat)
    inner = min(max(split, FEWEST_POINTS), len(values) - FEWEST_POINTS)
    before, after = flat[:inner], flat[inner:]
    shift = abs(float(np.median(after) - np.median(before)))
    scatter = min(scatter_of(before), scatter_of(after))
    if chance > CHANCE or shift <= max(LEAST_SHIFT * scatter, 1.0):
        return
    yield offset + inner
    yield from _changes(steps[:inner], values[:inner], offset)
    yield from _changes(steps[inner:], values[inner:], offset + inner)


def _near_slope(steps: Numbers, values: Numbers) -> float:
    """The median slope of pairs that lie near each other."""
    slopes = [
        (values[apart:] - values[:-apart]) / (steps[apart:] - steps[:-apart])
        for apart in range(1, max(2, len(values) // NEAR))
    ]
    return float(np.median(np.concatenate(slopes)))


def _pettitt(values: Numbers) -> tuple[int, float]:
    """Where the row most surely changes its level, and the chance of that in a row that does not.

    A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28 (1979).
    """
    count = len(values)
    ranks = np.empty(count)
    ranks[np.argsort(values, kind="stable")] = np.arange(1, count + 1)
    sums = 2 * np.cumsum(ranks) - np.arange(1, count + 1) * (count + 1)
    split = int(np.argmax(np.abs(sums[:-1])))
    chance = 2 * float(np.exp(-6 * sums[split] ** 2 / (count**3 + count**2)))
    return split + 1, min(1.0, chance)
