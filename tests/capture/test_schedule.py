from __future__ import annotations

from tenure.capture.schedule import Schedule, Spending, has_risen, is_due, is_geometric

MIB = 1 << 20


def due_steps(schedule: Schedule, *, until: int, census_seconds: float, step_seconds: float) -> list[int]:
    spending, steps = Spending(), []
    for step in range(1, until + 1):
        if is_due(schedule, spending, step=step, elapsed=step * step_seconds, counters={}):
            spending.add(census_seconds, step=step, counters={})
            steps.append(step)
    return steps


def test_the_schedule_is_dense_at_first_and_two_per_octave_later() -> None:
    assert [step for step in range(-1, 100) if is_geometric(step)] == [*(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)]


def test_the_first_eight_are_taken_and_later_ones_wait_for_the_budget() -> None:
    free = [1, 2, 3, 4, 6, 8, 12, 16]

    assert due_steps(Schedule(), until=40, census_seconds=1.0, step_seconds=0.1) == free
    assert due_steps(Schedule(), until=40, census_seconds=0.005, step_seconds=0.1) == [*free, 24, 32]


def test_a_census_of_more_than_five_seconds_ends_the_free_ones() -> None:
    assert due_steps(Schedule(), until=40, census_seconds=6.0, step_seconds=0.1) == [1]


def test_the_last_step_is_taken_whatever_it_costs() -> None:
    assert due_steps(Schedule(last_step=30), until=30, census_seconds=6.0, step_seconds=0.1) == [1, 30]


def test_steps_that_were_asked_for_replace_the_schedule() -> None:
    schedule = Schedule(steps=frozenset({2, 5}), budget_percent=0)

    assert due_steps(schedule, until=10, census_seconds=60, step_seconds=0.1) == [2, 5]


def test_ranks_decide_by_step_number_alone() -> None:
    schedule = Schedule(several_ranks=True, budget_percent=0)

    assert due_steps(schedule, until=30, census_seconds=60, step_seconds=0.1) == [
        step for step in range(31) if is_geometric(step)
    ]


def test_a_clear_rise_brings_a_census_between_the_planned_ones() -> None:
    spending = Spending()
    spending.add(0.001, step=16, counters={"rss_bytes": 1000 * MIB})

    def due(step: int, rss_mib: int) -> bool:
        return is_due(Schedule(), spending, step=step, elapsed=1.0, counters={"rss_bytes": rss_mib * MIB})

    assert [due(18, 1200), due(21, 1090), due(21, 1100)] == [False, False, True]


def test_noise_is_no_rise_and_a_counter_seen_once_says_nothing() -> None:
    assert not has_risen({"rss_bytes": 100 * MIB}, {"rss_bytes": 140 * MIB})
    assert not has_risen({}, {"rss_bytes": 100 * MIB})
    assert has_risen({"allocated_bytes": 0}, {"allocated_bytes": 16 * MIB})
