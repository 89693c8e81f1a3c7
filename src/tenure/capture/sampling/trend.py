"""Growth of a counter, noticed in the program's own process: coarse, cheap, with the standard library alone.

The reports' own judgement is `analysis.watching.slow_growth`, by the same rule on finer rows; this one only says when
a closer look is worth a census. Steps' values are handed over in the hooks; all else happens on the recorder's thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import sqrt
from statistics import median, pstdev

from tenure.model.growth_rule import LEAST_RISE, PARTS, SURE_OF_CHANGES, goes_on_rising, rises_throughout

POINTS = 64
"""So many least values of stretches of steps stand for a window of any length."""
STRETCHES = (8, 32)
"""Steps to a point: the last 512 and 2,048 steps are looked at by themselves, beside the whole run."""
FEWEST_STEPS = 150
FEWEST_POINTS = 48
NEW_POINTS = 16
"""A window is looked at again when a quarter of it is new."""
WATCHED = ("allocated_bytes", "rss_bytes")
MOST_WAITING = 8192
"""Steps that wait for the thread; of more the oldest are passed over."""

Points = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Trend:
    """A counter that grows, by about so many bytes per step, over the steps that were looked at."""

    name: str
    per_step: float
    first_step: int
    last_step: int


class TrendWatch:
    """`add` is called at each step; `look` by one thread, now and then."""

    def __init__(self) -> None:
        self._new: deque[tuple[int, Mapping[str, int]]] = deque(maxlen=MOST_WAITING)
        self._rows = {name: (_Row(1, whole=True), *map(_Row, STRETCHES)) for name in WATCHED}

    def add(self, step: int, counters: Mapping[str, int]) -> None:
        """Hand over a step; a tenth of a microsecond."""
        self._new.append((step, counters))

    def look(self) -> Trend | None:
        """Take what was handed over; growth, in the shortest window that shows it, where a new quarter of one does.

        A microsecond per step, and a millisecond for each window that is due.
        """
        for _ in range(len(self._new)):
            step, counters = self._new.popleft()
            for name, rows in self._rows.items():
                if name in counters:
                    for row in rows:
                        row.add(step, counters[name])
        found = (self._test(name, row) for name, rows in self._rows.items() for row in rows)
        return min(filter(None, found), key=lambda trend: -trend.first_step, default=None)

    def _test(self, name: str, row: _Row) -> Trend | None:
        points = row.take_due()
        if points is None or points[-1][0] - points[0][0] < FEWEST_STEPS:
            return None
        per_step = growth_of(points, least_rise=LEAST_RISE[name])
        return None if per_step is None else Trend(name, per_step, points[0][0], points[-1][0])


class _Row:
    """First steps and least values of stretches of steps: the last `POINTS`, or of the whole run, ever longer ones."""

    def __init__(self, stretch: int, *, whole: bool = False) -> None:
        self._stretch = stretch
        self._whole = whole
        self._points: list[tuple[int, int]] = []
        self._num_in_last = self._num_new = 0

    def add(self, step: int, value: int) -> None:
        if self._num_in_last == 0 or self._num_in_last == self._stretch:
            self._begin(step, value)
        elif value < self._points[-1][1]:
            self._points[-1] = (self._points[-1][0], value)
        self._num_in_last += 1

    def _begin(self, step: int, value: int) -> None:
        self._num_in_last = 0
        self._num_new += 1
        if len(self._points) == POINTS:
            if self._whole:
                pairs = zip(self._points[::2], self._points[1::2], strict=True)
                self._points = [(first[0], min(first[1], second[1])) for first, second in pairs]
                self._stretch *= 2
            else:
                del self._points[0]
        self._points.append((step, value))

    def take_due(self) -> Points | None:
        """The whole stretches, where enough of them are new since the last time."""
        if self._num_new < NEW_POINTS or len(self._points) <= FEWEST_POINTS:
            return None
        self._num_new = 0
        return self._points[:-1]


def growth_of(points: Points, *, least_rise: int) -> float | None:
    """Bytes per step of the later half where each quarter lies higher than the one before and rises by itself, as
    `find_slow_growth` has it; None for a row that does not, or has risen by less."""
    quarter = len(points) // PARTS
    parts = [points[-quarter * (PARTS - number) :][:quarter] for number in range(PARTS)]
    levels = [median(value for _, value in part) for part in parts]
    if not rises_throughout(levels, least_rise=least_rise) or not goes_on_rising(list(map(_slope_with_error, parts))):
        return None
    if _signed_rank(points) < SURE_OF_CHANGES:
        return None
    return _slope_with_error([*parts[-2], *parts[-1]])[0]


def _slope_with_error(points: Points) -> tuple[float, float]:
    """The median slope between all pairs (Theil and Sen), and its standard error by the residuals' robust scatter."""
    slope = median((b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2))
    rest = [value - slope * step for step, value in points]
    middle = median(rest)
    off = [abs(value - middle) for value in rest]
    scatter = 1.4826 * median(off) or sum(off) / len(off)
    return slope, 1.05 * scatter / (sqrt(len(points)) * pstdev(step for step, _ in points))


def _signed_rank(points: Points) -> float:
    """How surely the row's changes are upwards, as a standard normal number."""
    values = [(first[1] + second[1]) / 2 for first, second in zip(points[::2], points[1::2], strict=False)]
    moved = sorted((later - earlier for earlier, later in pairwise(values) if later != earlier), key=abs)
    count = len(moved)
    if count < 6:
        return 0.0
    above = sum(rank for rank, change in enumerate(moved, start=1) if change > 0)
    return (above - count * (count + 1) / 4) / sqrt(count * (count + 1) * (2 * count + 1) / 24)
