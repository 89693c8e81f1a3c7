from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tenure.analysis.growth.trend import (
    FLAT,
    Trend,
    find_period_in_part,
    find_trend,
    is_steady,
    late_part,
    theil_sen,
)

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


def test_what_is_level_over_the_later_half_of_the_steps_is_flat_though_most_censuses_came_before() -> None:
    """A store whose entries expire: as many go as come once it is full."""
    steps = (1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44, 64, 93, 95)
    store = [22, 52, 80, 112, 181, 239, 404, 507, 695, 1015, 1213, 1206, 1194, 1203]

    assert find_trend(steps, store) == FLAT
    assert find_trend(steps[:10], store[:10]).kind == "growing"
    slower = [*store[:11], 1330, 1510, 1520]  # 26 a step, then six
    assert find_trend(steps, slower).kind == "growing"


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


@pytest.mark.parametrize(
    ("values", "trend"),
    [
        ([0, 0, 0, 0, 0, 0, 0, 8, 22, 43], Trend("growing", 1.0, since=19)),
        ([0, 0, 0, 0, 0, 0, 0, 0, 12, 33], Trend("growing", 1.0, since=28)),
        ([5, 5, 5, 5, 5, 5, 5, 14, 28, 49], Trend("growing", 1.0, since=19)),
        ([0, 0, 0, 0, 0, 0, 0, 0, 12, 16], FLAT),  # slower than it came: something that fills
        ([0, 0, 0, 0, 0, 0, 0, 0, 1, 3], FLAT),  # too little for two measurements
        ([0, 0, 0, 0, 0, 0, 0, 8, 8, 8], FLAT),  # the first evaluation
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 30], FLAT),
        ([0, 0, 0, 0, 0, 0, 8, 8, 8, 15], Trend("growing", 7 / 44, since=13, twice=True)),  # two evaluations
        ([0, 0, 0, 0, 0, 0, 8, 8, 8, 11], FLAT),  # the second adds much less
        ([0, 0, 0, 0, 0, 8, 8, 16, 16, 16], FLAT),  # and then nothing for long
    ],
)
def test_growth_that_a_later_phase_begins_has_that_phases_rate(values: list[int], trend: Trend) -> None:
    assert find_trend(GEOMETRIC, values) == trend


def test_the_slope_is_that_of_the_part_that_grows() -> None:
    assert late_part(GEOMETRIC, [0, 0, 0, 0, 0, 0, 0, 0, 12, 33]) == ([42, 63], [12, 33])
    assert late_part(GEOMETRIC, [2, 3, 4, 6, 9, 13, 19, 28, 42, 63]) == (list(GEOMETRIC[1:]), list(GEOMETRIC[1:]))
    assert late_part((), ()) == ([], [])


SCHEDULE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
RUNS = 200


def share_growing(row: Callable[[np.random.Generator, int], list[int]]) -> float:
    random = np.random.default_rng(3)
    rows = (row(random, SCHEDULE[-1]) for _ in range(RUNS))
    return sum(find_trend(SCHEDULE, values).kind == "growing" for values in rows) / RUNS


def counted(added: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    return [int(added[:step].sum()) for step in SCHEDULE]


NOT_GROWING: dict[str, Callable[[np.random.Generator, int], list[int]]] = {
    "noise around a level": lambda random, last: [20 + int(random.integers(-3, 4)) for _ in SCHEDULE],
    "now and then a few more": lambda random, last: [20 + int(random.integers(0, 4)) // 3 for _ in SCHEDULE],
    "a bound that is reached": lambda random, last: [min(step, int(random.integers(8, 24))) for step in SCHEDULE],
    "a cache by length": lambda random, last: [
        len(set(lengths[:step])) for lengths in [random.integers(0, 13, last).tolist()] for step in SCHEDULE
    ],
}


def test_leaks_of_uneven_steps_are_called_growth_mostly() -> None:
    assert {name: share_growing(row) >= 0.75 for name, row in GROWING.items()} == dict.fromkeys(GROWING, True)


@pytest.mark.parametrize("name", sorted(NOT_GROWING))
def test_noise_and_what_fills_is_hardly_ever_called_growth(name: str) -> None:
    assert share_growing(NOT_GROWING[name]) <= 0.07


GROWING: dict[str, Callable[[np.random.Generator, int], list[int]]] = {
    "at every step": lambda random, last: counted(np.ones(last, dtype=np.int64)),
    "at three steps of ten": lambda random, last: counted((random.random(last) < 0.3).astype(np.int64)),
    "beside noise": lambda random, last: [step + 20 + int(random.integers(-3, 4)) for step in SCHEDULE],
    "at every tenth step": lambda random, last: [step // 10 for step in SCHEDULE],
    "from some step in the second quarter on": lambda random, last: [
        max(0, step - begin) for begin in [int(random.integers(last // 4, last // 2))] for step in SCHEDULE
    ],
}


@pytest.mark.parametrize("begins", [1, 2])
def test_a_sum_that_has_no_graph_at_first_is_a_sawtooth_with_its_period(begins: int) -> None:
    """Ended and begun anew every twelve steps; 36 nodes a step, and 20 more from the second on."""
    steps = [1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44, 45]
    values = [0 if (step - begins) % 12 == 0 else 20 + 36 * ((step - begins) % 12) for step in steps]

    assert find_trend(steps, values) == Trend("sawtooth", period=12)


@pytest.mark.parametrize("empty", [3, 6, 44])
def test_a_zero_at_another_place_than_after_a_fall_has_no_period(empty: int) -> None:
    steps = [1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44, 45]
    values = [0 if step == empty else 20 + 36 * ((step - 1) % 12) for step in steps]

    assert find_trend(steps, values).kind == "flat"


def test_the_first_steps_may_be_off_the_period_that_all_others_keep() -> None:
    """The newest element has another holder at the end of its step: of one element at step 2 none is counted."""
    steps = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]

    assert find_trend(steps, [0, 0, 1, 2, 4, 6, 10, 14, 22, 30, 6, 22]) == Trend("sawtooth", period=40)


def test_counts_of_millions_that_fall_are_looked_at_for_periods_within_the_run_alone() -> None:
    steps = [1, 2, 3, 4, 6, 8, 13, 16]
    nodes = [1_000_003, 1_500_001, 2_000_005, 1_750_000, 2_500_007, 2_250_001, 3_000_011, 2_750_003]

    assert find_trend(steps, nodes).kind == "flat"


STEPS_IN_PART = (1, 2, 3, 4, 6, 8, 13, 16, 32, 44)
IN_PART = (10, 20, 30, 40, 60, 80, 90, 90, 70, 90)
WHOLE = [value != 90 for value in IN_PART]


def test_a_period_is_fitted_to_counts_some_of_which_may_be_more() -> None:
    assert find_period_in_part(STEPS_IN_PART, IN_PART, WHOLE) == 25


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        ((*IN_PART[:-2], 320, 90), WHOLE),
        (IN_PART, [True] * len(IN_PART)),
        ((*IN_PART[:-1], 2000), WHOLE),
        (IN_PART, [value == 70 for value in IN_PART]),
    ],
    ids=[
        "it never falls",
        "the others are whole as well",
        "the part is more than the period gives",
        "too few are whole",
    ],
)
def test_no_period_is_fitted_where_counts_do_not_come_to_it(values: tuple[int, ...], whole: list[bool]) -> None:
    assert find_period_in_part(STEPS_IN_PART, values, whole) is None
