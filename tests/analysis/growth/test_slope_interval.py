from __future__ import annotations

import numpy as np
import pytest

from tenure.analysis.growth.slope_interval import slope_interval

GEOMETRIC = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
ROWS = 400


def share_that_holds(true: float, rows: list[list[int]], steps: tuple[int, ...]) -> float:
    found = [slope_interval(steps, row) for row in rows]
    return sum(ends is not None and ends[0] <= true <= ends[1] for ends in found) / len(rows)


def test_a_straight_line_has_one_slope() -> None:
    assert slope_interval(GEOMETRIC, [10 + 4 * step for step in GEOMETRIC]) == (4.0, 4.0)


def test_four_points_are_too_few_for_an_interval() -> None:
    assert slope_interval((3, 4, 6, 8), (3, 4, 6, 8)) is None
    assert slope_interval((), ()) is None


@pytest.mark.parametrize("points", [6, 8, 12])
def test_noise_around_a_line_leaves_the_slope_inside_in_95_of_100_rows(points: int) -> None:
    random, steps = np.random.default_rng(points), GEOMETRIC[:points]
    rows = [[int(1000 * step + random.normal(0, 2000)) for step in steps] for _ in range(ROWS)]

    assert share_that_holds(1000.0, rows, steps) >= 0.95


@pytest.mark.parametrize("points", [6, 8, 12])
def test_a_sum_of_random_sizes_leaves_their_mean_inside_in_90_of_100_rows(points: int) -> None:
    random, steps = np.random.default_rng(points), GEOMETRIC[:points]
    sums = [np.cumsum(random.exponential(1000, steps[-1] + 1)) for _ in range(ROWS)]
    rows = [[int(added[step]) for step in steps] for added in sums]

    assert share_that_holds(1000.0, rows, steps) >= 0.90


def test_long_rows_give_a_narrow_interval_around_the_slope() -> None:
    random, steps = np.random.default_rng(0), tuple(range(3, 153))
    low, high = slope_interval(steps, [int(50 * step + random.normal(0, 10)) for step in steps]) or (0.0, 0.0)

    assert 45 < low < 50 < high < 55
