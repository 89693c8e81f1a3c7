from __future__ import annotations

from itertools import pairwise

from tenure.analysis.evidence import LOOKED_AT_SHARE
from tenure.capture.steps.census_steps import (
    is_census_step,
    is_geometric,
    next_geometric,
    next_watched_calls,
    watches_calls,
)


def test_what_is_read_now_and_then_is_read_densely_at_first_and_at_two_round_steps_per_octave_later() -> None:
    assert [step for step in range(-1, 100) if is_geometric(step)] == [*(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)]


def test_the_schedule_is_dense_at_first_and_later_two_per_octave_one_of_them_beside_its_middle() -> None:
    early, late = (1, 2, 3, 4, 6, 8), (13, 16, 22, 32, 44, 64, 95, 128, 193, 256, 382, 512, 764)

    assert [step for step in range(-1, 1000) if is_census_step(step)] == [*early, *late]


def test_no_later_than_two_thirds_of_the_way_to_any_step_there_is_a_census() -> None:
    plan = [step for step in range(1, 100_000) if is_census_step(step)]

    assert all(this > LOOKED_AT_SHARE * (later - 1) for this, later in pairwise(plan))


def test_calls_are_watched_around_round_steps() -> None:
    assert [step for step in range(1, 120) if watches_calls(step)] == [
        near for ten in range(10, 101, 10) for near in (ten - 1, ten, ten + 1)
    ]


def test_the_next_step_of_the_schedule_is_known_without_a_search() -> None:
    def found(step: int) -> int:
        return next(later for later in range(step + 1, 10 * step + 2) if is_geometric(later))

    assert [next_geometric(step) for step in range(1, 200)] == [found(step) for step in range(1, 200)]


def test_the_next_step_whose_calls_are_watched_is_found_without_asking_of_each() -> None:
    watched = [step for step in range(1, 21_000) if watches_calls(step)]
    asked = [0, *range(1, 130), 899, 901, 998, 1000, 1001, 1002, 1998, 9998, 10_001]

    assert [next_watched_calls(step) for step in asked] == [
        next(later for later in watched if later > step) for step in asked
    ]
