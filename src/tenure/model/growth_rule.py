"""When a counter is said to grow, and how far ahead an end is told: one rule for recorder, reports and dashboard.

How rows are thinned, and what is taken off them first, is their own: the recorder has the standard library alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

PARTS = 4
SURE_OF_PART = 2.0
"""Standard errors by which a part's own slope lies above zero, in all parts but one, and in the last."""
LEAST_LATE_RATE = 0.4
"""The last part's slope over the median of those before it: less is a cache that fills."""
SURE_OF_CHANGES = 3.0
"""By Wilcoxon's signed ranks of the changes between neighbouring medians: a random walk comes to it in one of seven
hundred rows."""
LEAST_RISE = {"allocated_bytes": 64 << 10, "reserved_bytes": 64 << 10, "pinned_bytes": 64 << 10, "rss_bytes": 8 << 20}
"""Bytes between the first and the last part's level: less is not called growth, whatever its line."""
LONGEST_FORECAST_SECONDS = 30 * 24 * 3600
"""Ahead of which an end is left to JSON: few trainings take a month."""


def rises_throughout(levels: Sequence[float], *, least_rise: float = 0.0) -> bool:
    """Of the parts' levels: each lies higher than the one before, the last by `least_rise` higher than the first."""
    return levels[-1] - levels[0] >= least_rise and all(later > earlier for earlier, later in pairwise(levels))


def goes_on_rising(slopes: Sequence[tuple[float, float]]) -> bool:
    """Of each part's slope and its standard error: all but one rise by themselves, the last among them and not much
    more slowly than those before."""
    rising = [slope > SURE_OF_PART * error and slope > 0 for slope, error in slopes]
    before = median(slope for slope, _ in slopes[:-1])
    return rising[-1] and sum(rising) >= PARTS - 1 and slopes[-1][0] >= LEAST_LATE_RATE * before


def is_near(seconds: float | None) -> bool:
    """Whether an end so far ahead is told to a person; one of which no time is known is."""
    return seconds is None or seconds <= LONGEST_FORECAST_SECONDS
