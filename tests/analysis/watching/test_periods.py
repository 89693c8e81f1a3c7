from __future__ import annotations

import numpy as np
import pytest

from analysis.watching.simulated import KIB, MIB, allocator
from tenure.analysis.watching.periods import Sawtooth, _course, _fast_length, find_sawtooth, without_sawtooth


def saw(period: int, amplitude: float, count: int) -> np.ndarray:
    return amplitude / (period - 1) * (np.arange(count) % period)


@pytest.mark.parametrize("period", [2, 5, 10, 33, 100, 119])
@pytest.mark.parametrize("slope", [0.0, 1 * KIB, -4 * KIB])
def test_a_period_is_found_whatever_grows_below_it(period: int, slope: float) -> None:
    steps = np.arange(1.0, 501)
    noise = np.random.default_rng(period).normal(0, 10 * KIB, len(steps))
    found = find_sawtooth(steps, saw(period, 8 * MIB, len(steps)) + slope * steps + noise)

    assert found is not None
    assert found.period == period
    assert found.amplitude == pytest.approx(8 * MIB, rel=0.02)


def test_evaluations_between_do_not_hide_the_period() -> None:
    steps = np.arange(1.0, 481)
    rows = [allocator(np.random.default_rng(seed), 500)[20:] + saw(40, 8 * MIB, 480) for seed in range(10)]

    assert [getattr(find_sawtooth(steps, row), "period", None) for row in rows] == [40] * 10


def test_a_pool_that_grows_between_does_not_hide_the_period() -> None:
    steps = np.arange(1.0, 481)
    noise = np.random.default_rng(1).normal(0, 100 * KIB, 480)
    jumps = 30 * MIB * (steps > 100) + 12 * MIB * (steps > 333)
    row = saw(40, 8 * MIB, 480) + 64 * KIB * steps + jumps + noise

    found = find_sawtooth(steps, row)
    assert found is not None
    assert (found.period, found.amplitude) == (40, pytest.approx(8 * MIB, rel=0.05))


def test_what_is_left_without_the_sawtooth_is_the_trend() -> None:
    steps = np.arange(1.0, 301)
    left = without_sawtooth(steps, saw(30, 8 * MIB, 300) + KIB * steps)

    assert np.diff(left) == pytest.approx(np.full(299, KIB))


def test_a_sawtooth_above_growth_as_large_in_a_period_is_no_stairs() -> None:
    steps = np.arange(1.0, 301)
    found = find_sawtooth(steps, saw(60, 6.0, 300) + 6.0 / 60 * steps)

    assert found is not None
    assert (found.period, found.amplitude) == (60, pytest.approx(6.0, rel=0.1))


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(300),
        np.arange(300.0),
        np.random.default_rng(0).normal(0, 1, 300),
        np.cumsum(np.random.default_rng(1).normal(0, 1, 300)),
        saw(150, 5.0, 300),
        50.0 * (np.arange(300) // 60),
    ],
    ids=["nothing", "line", "noise", "walk", "two periods only", "stairs"],
)
def test_a_row_without_a_period_stays_as_it_is(values: np.ndarray) -> None:
    steps = np.arange(1.0, len(values) + 1)

    assert find_sawtooth(steps, values) is None
    assert without_sawtooth(steps, values) is values


@pytest.mark.parametrize(("period", "every"), [(30, 1), (12, 2), (31, 2), (100, 2), (119, 2), (24, 3), (80, 3)])
def test_a_period_is_found_where_not_every_step_was_read(period: int, every: int) -> None:
    steps = np.arange(1.0, 501)
    row = saw(period, 8 * MIB, 500) + np.random.default_rng(period).normal(0, 10 * KIB, 500)
    read = np.delete(steps, 100) if every == 1 else steps[every - 1 :: every]
    found = find_sawtooth(read, row[read.astype(int) - 1])

    assert found is not None
    assert (found.period, found.amplitude) == (period, pytest.approx(8 * MIB, rel=0.05 + (every - 1) / period))


def test_what_is_left_without_the_sawtooth_is_the_trend_where_reading_became_rarer_too() -> None:
    steps = np.concatenate([np.arange(1.0, 121), np.arange(122.0, 481, 2)])
    left = without_sawtooth(steps, saw(30, 8 * MIB, 480)[steps.astype(int) - 1] + KIB * steps)

    assert np.median(np.diff(left) / np.diff(steps)) == pytest.approx(KIB)


@pytest.mark.parametrize("steps", [1000.0 * np.arange(60), 4.0 * np.arange(1, 100)], ids=["a thousand", "four"])
def test_of_few_steps_that_were_read_there_is_no_period(steps: np.ndarray) -> None:
    period = int(26 * (steps[1] - steps[0])) - 1

    assert find_sawtooth(steps, saw(period, 8.0, int(steps[-1]) + 1)[steps.astype(int)]) is None


def test_a_sawtooth_is_a_period_and_an_amplitude() -> None:
    assert find_sawtooth(np.arange(1.0, 61), saw(6, 5.0, 60)) == Sawtooth(6, 5.0)


@pytest.mark.parametrize("count", [30, 31, 59, 60])
@pytest.mark.parametrize("period", [1, 2, 7, 10])
def test_the_course_of_a_period_is_the_median_of_each_phase_though_the_last_period_is_cut(
    count: int, period: int
) -> None:
    row = np.random.default_rng(count).normal(0, 1, count)

    assert _course(row, period).tolist() == [float(np.median(row[phase::period])) for phase in range(period)]


@pytest.mark.parametrize("least", [1, 7, 40, 1_333_327])
def test_rows_are_transformed_at_lengths_that_are_quick(least: int) -> None:
    length = _fast_length(least)

    assert least <= length <= 4 * least / 3 + 1
    assert length // (length & -length) in (1, 3, 5, 9, 15)
