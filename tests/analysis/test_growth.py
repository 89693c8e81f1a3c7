from __future__ import annotations

import pytest

from tenure.analysis.growth import FLAT, Trend, find_trend, is_steady, theil_sen

GEOMETRIC = (2, 3, 4, 6, 9, 13, 19, 28, 42, 63)


def test_a_value_per_step_is_growth_however_censuses_are_spaced() -> None:
    assert find_trend(GEOMETRIC, [4 * step for step in GEOMETRIC]) == Trend("growing", 4.0)


@pytest.mark.parametrize("steps", [(2, 3, 5, 9), (3, 5, 9), (1, 2, 3, 10, 100)])
def test_three_censuses_after_warm_up_are_enough(steps: tuple[int, ...]) -> None:
    assert find_trend(steps, list(steps)) == Trend("growing", 1.0)


@pytest.mark.parametrize(
    "values",
    [
        [0, 8, 8, 8, 8, 8, 8, 8, 8, 8],  # lazy optimizer state
        [1, 1, 1, 1, 5, 5, 5, 5, 5, 5],  # a layer added once
        [2, 3, 4, 6, 9, 13, 16, 16, 16, 16],  # a cache at its bound
        [5, 7, 6, 7, 5, 6, 7, 6, 5, 7],  # batches of varying length
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
        [2, 3, 4, 6, 8, 10, 11, 12, 12, 13],  # a cache that meets fewer and fewer new keys
    ],
)
def test_what_fills_stops_or_wavers_is_flat(values: list[int]) -> None:
    assert find_trend(GEOMETRIC, values) == FLAT


def test_two_points_after_warm_up_prove_nothing() -> None:
    assert find_trend((1, 2, 3, 4), [1, 2, 3, 4]) == FLAT


@pytest.mark.parametrize("period", [5, 10, 16])
def test_a_list_cleared_every_few_steps_is_a_sawtooth_with_its_period(period: int) -> None:
    values = [(step - 1) % period + 1 for step in GEOMETRIC]

    assert find_trend(GEOMETRIC, values) == Trend("sawtooth", period=period)


def test_watched_falls_give_the_period_where_the_rate_varies() -> None:
    steps = tuple(range(3, 15))

    assert find_trend(steps, [3, 7, 8, 1, 6, 9, 0, 2, 8, 1, 4, 5]) == Trend("sawtooth", period=3)


def test_one_odd_census_does_not_move_the_slope() -> None:
    assert theil_sen((1, 2, 3, 4, 5), [10, 20, 900, 40, 50]) == 10.0


def test_steady_growth_is_a_line_and_batches_of_random_length_are_none() -> None:
    assert is_steady(GEOMETRIC, [100 + 7 * step for step in GEOMETRIC])
    assert not is_steady(GEOMETRIC, [10, 12, 11, 40, 41, 42, 43, 90, 91, 92])
