"""Is a row of measurements growing for good, rising and falling with a period, or neither?

Censuses are spaced unevenly (geometrically, mostly), so everything here looks at values per step, not per census.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, takewhile
from statistics import median
from typing import Literal

import numpy as np

from tenure.analysis.heap.graph import Bools

WARM_UP_STEP = 2
"""Up to here optimizer state, caches and gradients come into being; a value from then counts in long rows only."""
FEWEST_POINTS = 3
"""Measurements after warm-up below which nothing is called growth."""
NOISY_POINTS = 6
"""Measurements below which bytes that grow in a single place are not told from batches of random length."""
LEAST_LATE_RATE = 0.2
"""Growth in the second half of a run below this share of the first half's is a cache that fills, not a leak."""
MUCH_FOR_TWO = 8
"""So many must have come between the only two measurements of a later phase for it to be called growth."""
ALIKE = 0.25
"""Two rises that differ by no more than this share of the larger may come from two rounds of one thing."""
FITTED_POINTS = 6
"""Measurements from which a period may be fitted to unevenly spaced values."""
LONGEST_FITTED = 1024
"""Steps of a period that is fitted; of a longer one the falls must have been watched."""


@dataclass(frozen=True)
class Trend:
    """What a row of measurements does; `per_step` is the robust slope, `period` the steps between falls.

    `since` is the last step before growth began, where that is later than warm-up: a phase of the program began it.
    With `twice` there were no more than two rises, alike: an evaluation after each epoch, or a buffer nearly full.
    """

    kind: Literal["growing", "sawtooth", "flat"]
    per_step: float = 0.0
    period: int | None = None
    since: int | None = None
    twice: bool = False


FLAT = Trend("flat")


def find_trend(steps: Sequence[int], values: Sequence[int], *, counted: bool = True) -> Trend:
    """Growing, sawtooth or flat. A row that fills up and stops, or rises once, is flat.

    Of values that are no counts (bytes), a period is seen only where several falls were watched: one that fits counts
    is looked for up to twice the largest of them.
    """
    late = [(step, value) for step, value in zip(steps, values, strict=True) if step > WARM_UP_STEP]
    if is_growing([step for step, _ in late], [value for _, value in late]):
        return Trend("growing", theil_sen([step for step, _ in late], [value for _, value in late]))
    period = find_period(steps, values, counted=counted)
    if period:
        return Trend("sawtooth", period=period)
    return _find_late_growth(late)


def _find_late_growth(late: Sequence[tuple[int, int]]) -> Trend:
    """Growth that a later phase of the program begins, an epoch or a second optimizer: nothing moved before.

    Of two measurements the phase must have added much, and at the second no more slowly than at the first.
    """
    still = _still(late)
    steps, values = [step for step, _ in late[still:]], [value for _, value in late[still:]]
    if still < 2 or len(steps) < 2:
        return FLAT
    since = late[still - 1][0]
    from_two = _rate_of_two_rises(late[still - 1 :])
    if from_two:
        return Trend("growing", from_two, since=since, twice=True)
    if len(steps) == 2:
        first = (values[0] - late[0][1]) / (steps[0] - since)
        second = (values[1] - values[0]) / (steps[1] - steps[0])
        grows = 0 < first <= second and values[1] - values[0] >= MUCH_FOR_TWO
    else:
        grows = is_growing(steps, values)
    return Trend("growing", theil_sen(steps, values), since=since) if grows else FLAT


def _rate_of_two_rises(late: Sequence[tuple[int, int]]) -> float:
    """Two rises of about one size, a stretch in which nothing moved between them, and no longer one since; else 0."""
    rises = [(step, value - before) for (_, before), (step, value) in pairwise(late) if value != before]
    if len(rises) != 2 or min(size for _, size in rises) <= 0:
        return 0.0
    (first, one), (second, other) = rises
    still_between = any(first < step < second for step, _ in late)
    alike = abs(other - one) <= ALIKE * max(one, other)
    return other / (second - first) if still_between and alike and late[-1][0] - second <= second - first else 0.0


def _still(late: Sequence[tuple[int, int]]) -> int:
    """How many measurements at the start are equal."""
    return sum(1 for _ in takewhile(lambda point: point[1] == late[0][1], late))


def theil_sen(steps: Sequence[int], values: Sequence[int]) -> float:
    """Median of the slopes between all pairs: one odd census does not move it."""
    slopes = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for earlier, later in combinations(zip(steps, values, strict=True), 2)
        if later[0] != earlier[0]
    ]
    return float(median(slopes)) if slopes else 0.0


def late_part(steps: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Steps and values after warm-up, from where growth begins.

    What another holder lets go of late comes late to this one, and so does what only a later phase adds.
    """
    late = [(step, value) for step, value in zip(steps, values, strict=True) if step > WARM_UP_STEP]
    still = _still(late)
    if still > 1 and len(late) - still >= 2:
        late = late[still:]
    return [step for step, _ in late], [value for _, value in late]


def is_growing(steps: Sequence[int], values: Sequence[int]) -> bool:
    """Both halves rise, the second not much slower than the first, and growth has not stopped since."""
    if len(values) < FEWEST_POINTS or steps[-1] == steps[0]:
        return False
    middle = _middle(steps)
    first = (values[middle] - values[0]) / (steps[middle] - steps[0])
    second = (values[-1] - values[middle]) / (steps[-1] - steps[middle])
    if first <= 0 or second <= 0 or second < LEAST_LATE_RATE * first or _is_level_at_last(steps, values):
        return False
    changes = [later - earlier for earlier, later in pairwise(values)]
    if sum(change < 0 for change in changes) > len(changes) // 5:
        return False
    return theil_sen(steps, values) > 0 and not _has_stopped(steps, values)


def is_steady(steps: Sequence[int], values: Sequence[int]) -> bool:
    """Growth in a straight line over many points: what chance would not draw."""
    return _follows_line(steps, values, fewest=NOISY_POINTS, spread=0.2)


def is_exact_line(steps: Sequence[int], values: Sequence[int]) -> bool:
    """Growth in as good as a perfect line, be it over few points: the same is added each time."""
    return _follows_line(steps, values, fewest=FEWEST_POINTS, spread=0.02)


def _follows_line(steps: Sequence[int], values: Sequence[int], *, fewest: int, spread: float) -> bool:
    """Nothing falls, and no value is further from the robust line than a share of the whole rise."""
    late = [(step, value) for step, value in zip(steps, values, strict=True) if step > WARM_UP_STEP]
    if len(late) < fewest or any(right[1] < left[1] for left, right in pairwise(late)):
        return False
    slope = theil_sen([step for step, _ in late], [value for _, value in late])
    start = median(value - slope * step for step, value in late)
    span = late[-1][1] - late[0][1]
    return span > 0 and all(abs(value - start - slope * step) <= spread * span for step, value in late)


def find_period(steps: Sequence[int], values: Sequence[int], *, counted: bool = True) -> int | None:
    """Steps between falls of a row that rises, falls and rises again; None where it does nothing of the kind.

    The first steps may be off a period that all others keep: what holds the newest element too begins with them.
    """
    falls = [position for position in range(1, len(values)) if values[position] < values[position - 1]]
    if not falls or max(values) < 3 or len(set(values)) < 3:
        return None
    if not counted:
        return _seen_period(steps, values, falls)
    late = sum(step <= WARM_UP_STEP for step in steps)
    fitted = _fitted_period(steps, values) or _fitted_period(steps[late:], values[late:])
    return fitted or _seen_period(steps, values, falls)


def find_period_in_part(steps: Sequence[int], values: Sequence[int], whole: Sequence[bool]) -> int | None:
    """The same of counts some of which are of what could be seen, and may be more: those that are `whole` fit a period,
    and what it gives for the others is no less. None where it falls in none of the whole ones."""
    counted = [value for value, is_whole in zip(values, whole, strict=True) if is_whole]
    if all(later >= earlier for earlier, later in pairwise(counted)):
        return None
    return _fit(steps, values, np.zeros(len(values), dtype=bool), at_least=~np.array(whole, dtype=bool))


def _middle(steps: Sequence[int]) -> int:
    """The census nearest to the middle of the run by position, never the first or the last."""
    return min(max(1, len(steps) // 2), len(steps) - 2)


def _is_level_at_last(steps: Sequence[int], values: Sequence[int]) -> bool:
    """Hardly anything was added in the later half of the steps, where several measurements lie: entries come and go.
    By measurements, most of which are early, the half is another one."""
    half = next(at for at, step in enumerate(steps) if 2 * step >= steps[0] + steps[-1])
    if len(values) - half < FEWEST_POINTS or not half:
        return False
    early = (values[half] - values[0]) / (steps[half] - steps[0])
    late = (values[-1] - values[half]) / (steps[-1] - steps[half])
    return late < LEAST_LATE_RATE * early


def _has_stopped(steps: Sequence[int], values: Sequence[int]) -> bool:
    """Nothing was added over a last stretch in which at least two additions were due."""
    last_change = max(position for position in range(1, len(values)) if values[position] != values[position - 1])
    if last_change == len(values) - 1:
        return False
    rate = (values[last_change] - values[0]) / (steps[last_change] - steps[0])
    smallest = min(abs(right - left) for left, right in pairwise(values) if right != left)
    return rate * (steps[-1] - steps[last_change]) >= 2 * smallest


def _fitted_period(steps: Sequence[int], values: Sequence[int]) -> int | None:
    """The smallest period for which every value is `start + rate * (steps since the last fall)`; or all but zeros that
    come first after a fall, for the first value of a sum has no graph."""
    empty = np.array(values) == 0
    whole = _fit(steps, values, np.zeros_like(empty))
    return whole or (_fit(steps, values, empty) if empty.any() else None)


def _fit(steps: Sequence[int], values: Sequence[int], left_out: Bools, *, at_least: Bools | None = None) -> int | None:
    """The same of the values that are not `left_out`, which must all have the first place after a fall. Of those that
    are `at_least` what was seen the fit may give more.

    Half of a period must have been seen, so that none is longer than twice the run, nor, as each step adds something,
    than twice the highest count. Costs the square of the longest period looked for, some tenths of a second at most.
    """
    at, seen, before = np.array(steps)[~left_out], np.array(values)[~left_out], np.array(steps)[left_out]
    part = np.zeros(len(seen), dtype=bool) if at_least is None else at_least[~left_out]
    if np.count_nonzero(~part) < FITTED_POINTS:
        return None
    highest, lowest = (int(np.flatnonzero(~part)[find(seen[~part])]) for find in (np.argmax, np.argmin))
    for period in range(2, min(2 * int(seen.max()) + 2, 2 * int(at.max()) + 2, LONGEST_FITTED) + 1):
        shifts = np.arange(period)[:, None]
        phases = (at[None, :] - shifts) % period
        run = phases[:, highest] - phases[:, lowest]
        rise = seen[highest] - seen[lowest]
        rate = np.where(run > 0, rise // np.maximum(run, 1), 0)
        fitted = seen[lowest] + rate[:, None] * (phases - phases[:, lowest][:, None])
        fits = (rate > 0) & np.all((seen == fitted) | (part & (seen <= fitted)), axis=1)
        reaches_far = phases.max(axis=1) * 2 >= period - 1
        first = (before[None, :] - shifts) % period
        come_first = np.all(first == first[:, :1], axis=1) & np.all(first < phases.min(axis=1)[:, None], axis=1)
        if np.any(fits & reaches_far & come_first):
            return period
    return None


def _seen_period(steps: Sequence[int], values: Sequence[int], falls: Sequence[int]) -> int | None:
    """From falls that were watched: at least two deep ones, with two rises to each."""
    deep = [position for position in falls if values[position] <= values[position - 1] / 2]
    rises = sum(right > left for left, right in pairwise(values))
    if len(deep) < 2 or len(deep) != len(falls) or rises < 2 * len(falls):
        return None
    return max(1, round(median(steps[right] - steps[left] for left, right in pairwise(deep))))
