"""What fills ever more slowly: a cache, a pool, libraries that load, as an exponential course that comes to rest."""

from __future__ import annotations

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned

POINTS = 100
SHORTEST = 4.0
LONGEST_SHARE = 0.2
"""Of the steps looked at: what takes longer to fill by two thirds is not told from growth."""
GRID = 16
NARROWINGS = 24
GOLDEN = 0.6180339887498949
LEFT = 0.5
"""A course is one that leaves less than half of the squares that a line alone leaves."""


def filling_of(steps: Numbers, values: Numbers) -> Numbers | None:
    """The course that the row fills by, on top of a line: rising, and nothing at its end. None where there is none.

    Least squares of a line and an exponential over medians of neighbours; the time by which it fills is searched for
    by golden sections (J. Kiefer 1953). Two milliseconds.
    """
    at, seen = thinned(steps - steps[0], values, most=POINTS, together=3)
    seen = seen - np.median(seen)
    time = _best_time(at, seen)
    factors, left = _fit(at, seen, time)
    line = np.polynomial.Polynomial.fit(at, seen, 1)(at)
    if factors[2] >= 0 or left >= LEFT * float(np.sum((seen - line) ** 2)):
        return None
    return np.asarray(factors[2] * np.exp(-(steps - steps[0]) / time))


def _best_time(at: Numbers, seen: Numbers) -> float:
    def squares(logarithm: float) -> float:
        return _fit(at, seen, float(np.exp(logarithm)))[1]

    grid = np.log(np.geomspace(SHORTEST, max(2 * SHORTEST, LONGEST_SHARE * float(at[-1])), GRID))
    best = int(np.argmin([squares(time) for time in grid]))
    low, high = float(grid[max(0, best - 1)]), float(grid[min(GRID - 1, best + 1)])
    inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    of_inner, of_outer = squares(inner), squares(outer)
    for _ in range(NARROWINGS):
        if of_inner < of_outer:
            high, outer, of_outer = outer, inner, of_inner
            inner = high - GOLDEN * (high - low)
            of_inner = squares(inner)
        else:
            low, inner, of_inner = inner, outer, of_outer
            outer = low + GOLDEN * (high - low)
            of_outer = squares(outer)
    return float(np.exp((low + high) / 2))


def _fit(at: Numbers, seen: Numbers, time: float) -> tuple[Numbers, float]:
    """Level, slope and factor of the exponential, and the squares that they leave."""
    parts = np.stack([np.ones_like(at), at / at[-1], np.exp(-at / time)], axis=1)
    factors = np.linalg.lstsq(parts, seen, rcond=None)[0]
    return factors, float(np.sum((seen - parts @ factors) ** 2))
