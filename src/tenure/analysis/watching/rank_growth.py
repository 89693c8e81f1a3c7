"""Which ranks have more of a counter than the others, since when, and whether ever more: robust against noise.

Each rank of the half that grows most is compared with the median of the other half, every one less its own beginning.
So a rank that differs by design from the beginning is silent here, and so is growth that all ranks share. Where more
than half leak, their rate is told too low.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.rank_rows import RankRows
from tenure.analysis.watching.robust import scatter_of, signed_rank, slope_with_error
from tenure.analysis.watching.slow_growth import FEWEST_POINTS, find_slow_growth
from tenure.model.growth_rule import LEAST_RISE
from tenure.model.ranks import RankDifference, RankLevels

EARLY = (0.1, 1 / 3)
"""The part of the run whose level counts as the beginning."""
CHANCE = 0.001
"""Of a rank that does not grow more than the others, over all ranks of a run, by the ranks of its changes alone."""
MOST_CHANGES = 48
LEAST_BYTES, LEAST_SHARE = 16 << 20, 0.05
"""Less than both is no difference of levels."""
HINGES = 100
FEWEST_AFTER = 10
"""Points after a rise, or it is none yet."""
SURE_OF_RISE = 6.0
"""Times the scatter on either side."""


def find_rank_differences(ranks: Sequence[RankRows], name: str) -> list[RankDifference]:
    """Growth of one counter on some ranks, in the whole run or its last 2,000 steps; then levels that rose once."""
    found = list(_growing(ranks, name))
    told = {rank for each in found for rank in each.ranks}
    return [*found, *(each for each in _risen(ranks, name) if each.ranks[0] not in told)]


def find_levels(ranks: Sequence[RankRows], name: str) -> RankLevels | None:
    """The ranks with least and most at the beginning; None where all are alike."""
    there = [each for each in ranks if name in each.whole]
    if len(there) < 2:
        return None
    levels = np.array([float(np.median(_early(each.whole[name][1]))) for each in there])
    low, high = int(np.argmin(levels)), int(np.argmax(levels))
    if levels[high] - levels[low] < _least_difference(levels):
        return None
    return RankLevels(name, there[low].run.rank, int(levels[low]), there[high].run.rank, int(levels[high]))


def onset(steps: Numbers, values: Numbers) -> int:
    """The step from which a row rises: the hinge of the two lines, the first of them level, that fit it best."""
    ends = np.linspace(0, len(steps) - 3, min(HINGES, max(1, len(steps) - 2))).astype(int)
    misfits = [_misfit(np.maximum(0.0, steps - steps[end]), values) for end in ends]
    return int(steps[ends[int(np.argmin(misfits))]])


def _growing(ranks: Sequence[RankRows], name: str) -> Iterator[RankDifference]:
    told: set[int] = set()
    for kept in ("whole", "recent"):
        there = [each for each in ranks if name in getattr(each, kept)]
        if len(there) < 2:
            continue
        grid, values = _aligned([getattr(each, kept)[name] for each in there])
        if len(grid) < FEWEST_POINTS:
            continue
        sure = NormalDist().inv_cdf(1 - CHANCE / len(there))
        for position, beyond in _beyond_others(values, [_slope(grid, row) for row in values]):
            rank, seen = there[position].run.rank, np.isfinite(beyond)
            steps, row = grid[seen], beyond[seen]
            if rank in told or not _grows(steps, row, values[position][seen], sure, LEAST_RISE[name]):
                continue
            told.add(rank)
            start = onset(steps, row)
            later = steps >= start
            slope = slope_with_error(steps[later], row[later])[0]
            yield RankDifference(name, "grows", (rank,), start, int(row[-1] - row[later][0]), slope)


def _grows(steps: Numbers, beyond: Numbers, own: Numbers, sure: float, least_rise: float) -> bool:
    if len(steps) < FEWEST_POINTS or _slope(steps, own) <= 0:
        return False
    if find_slow_growth(steps, beyond, least_rise=least_rise) is None:
        return False
    return signed_rank(np.diff(thinned(steps, beyond, most=MOST_CHANGES + 1)[1])) >= sure


def _risen(ranks: Sequence[RankRows], name: str) -> Iterator[RankDifference]:
    there = [each for each in ranks if name in each.whole]
    if len(there) < 2:
        return
    grid, values = _aligned([each.whole[name] for each in there])
    if len(grid) < FEWEST_POINTS:
        return
    least = _least_difference(np.nanmedian(values, axis=1))
    for position, beyond in _beyond_others(values, [_end(row) - _beginning(row) for row in values]):
        seen = np.isfinite(beyond)
        rise = _rise(grid[seen], beyond[seen])
        if rise is not None and rise[1] >= least:
            yield RankDifference(name, "rose", (there[position].run.rank,), rise[0], rise[1], None)


def _rise(steps: Numbers, values: Numbers) -> tuple[int, int] | None:
    """Where a row of two levels changes, and by how much; None where its scatter hides that, or it has warmed up."""
    count = len(values)
    if count < FEWEST_POINTS:
        return None
    before = np.arange(1, count)
    sums = np.cumsum(values)[:-1]
    between = (sums - before * values.mean()) ** 2 * (1 / before + 1 / (count - before))
    split = int(np.argmax(between)) + 1
    if not count * EARLY[0] <= split <= count - FEWEST_AFTER:
        return None
    low, high = values[:split], values[split:]
    more = float(np.median(high) - np.median(low))
    sure = more > SURE_OF_RISE * max(scatter_of(low), scatter_of(high))
    return (int(steps[split]), int(more)) if sure else None


def _aligned(rows: Sequence[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Values of all ranks at the same step numbers, one row each; not a number outside of what a rank recorded."""
    longest = max(rows, key=lambda row: row[0][-1])[0]
    first = max(float(np.median([steps[0] for steps, _ in rows])), float(longest[0]))
    grid = longest[longest >= first]
    values = [np.interp(grid, steps, counted, left=np.nan, right=np.nan) for steps, counted in rows]
    shared = np.sum(np.isfinite(values), axis=0) >= max(2, (len(rows) + 1) // 2)
    return grid[shared], np.array(values)[:, shared]


def _beyond_others(values: Numbers, growth: Sequence[float]) -> Iterator[tuple[int, Numbers]]:
    """Positions of the half with most `growth`, each with what it gained beyond the median of the other half."""
    order = np.argsort(growth, kind="stable")
    gained = np.array([row - _beginning(row) for row in values])
    half = max(1, len(values) // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps at which none of them recorded
        reference = np.nanmedian(gained[order[:half]], axis=0)
    for position in order[half:]:
        yield int(position), gained[position] - reference


def _beginning(values: Numbers) -> float:
    return float(np.median(_early(values[np.isfinite(values)])))


def _end(values: Numbers) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there[-FEWEST_AFTER:])) if len(there) else 0.0


def _slope(steps: Numbers, values: Numbers) -> float:
    steps, values = steps[np.isfinite(values)], values[np.isfinite(values)]
    return slope_with_error(*thinned(steps, values, most=MOST_CHANGES + 1))[0]


def _early(values: Numbers) -> Numbers:
    first, last = (int(share * len(values)) for share in EARLY)
    return values[first : max(last, first + 1)] if len(values) else np.zeros(1)


def _least_difference(levels: Numbers) -> float:
    return max(LEAST_BYTES, LEAST_SHARE * float(np.median(levels)))


def _misfit(rise: Numbers, values: Numbers) -> float:
    spread = float(np.sum((rise - rise.mean()) ** 2))
    if not spread:
        return float("inf")
    centred = values - values.mean()
    return float(np.sum(centred**2) - np.sum((rise - rise.mean()) * centred) ** 2 / spread)
