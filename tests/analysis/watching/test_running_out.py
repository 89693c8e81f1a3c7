"""The interval of 90 % holds the step at which a simulated run meets its limit, in nearly nine of ten of each kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from analysis.watching.simulated import GROWING, KIB, MIB, Row, draw_with_limit
from tenure.analysis.watching.running_out import steps_until
from tenure.analysis.watching.warm_up import warm_up_end

NUM_RUNS = 200


def is_inside(rows: Sequence[Row], seed: int) -> bool:
    values, limit, truth = draw_with_limit(rows, seed)
    steps = np.arange(1.0, len(values) + 1)
    start = warm_up_end(steps, values)
    told = steps_until(steps[start:], values[start:], limit)
    return told is not None and told.soonest <= truth <= (told.latest or np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROWING)
def test_the_interval_holds_the_truth(kind: str) -> None:
    assert sum(is_inside(GROWING[kind], seed) for seed in range(NUM_RUNS)) >= 0.85 * NUM_RUNS


def test_a_straight_line_meets_its_limit_where_it_does() -> None:
    steps = np.arange(1.0, 201)
    told = steps_until(steps, 100 * MIB + 10 * KIB * steps, 100 * MIB + 10 * KIB * 1200)

    assert told is not None
    assert told.steps == pytest.approx(1000)
    assert (told.soonest, told.latest) == pytest.approx((970, 1030), rel=2e-3)


@pytest.mark.parametrize("slope", [0.0, -5.0])
def test_nothing_is_told_of_a_row_that_does_not_grow(slope: float) -> None:
    steps = np.arange(1.0, 201)

    assert steps_until(steps, 1000 + slope * steps, 2000.0) is None


def test_a_limit_that_is_met_already_is_no_step_away() -> None:
    steps = np.arange(1.0, 201)
    told = steps_until(steps, 10 * steps, 500.0)

    assert told is not None
    assert (told.steps, told.soonest, told.latest) == (0.0, 0.0, 0.0)


def test_growth_that_may_be_none_has_no_latest_end() -> None:
    rng = np.random.default_rng(3)
    told = steps_until(np.arange(1.0, 61), rng.normal(0, MIB, 60) + 3 * KIB * np.arange(60), 1000 * MIB)

    assert told is not None
    assert told.latest is None
