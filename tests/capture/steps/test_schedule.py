from __future__ import annotations

from collections import Counter
from math import inf

import pytest

from tenure.capture.steps.census_steps import is_census_step
from tenure.capture.steps.schedule import (
    Schedule,
    can_afford_entry,
    can_afford_look,
    find_payable,
    has_reached,
    has_risen,
    is_due,
    rise_limits,
)
from tenure.capture.steps.spending import Cost, Spending

MIB = 1 << 20

PLAN_OF_FEW = [1, 2, 3, 4, 6, 8, 13, 16]
"""What is taken whatever it costs."""
PLAN = [step for step in range(1, 41) if is_census_step(step)]


def due_steps(
    schedule: Schedule,
    *,
    until: int,
    census_seconds: float,
    step_seconds: float,
    processor_share: float = 1.0,
    work: int | None = None,
) -> list[int]:
    """The steps with a census; of `work` objects each, or two million per second of processor time."""
    spending, steps = Spending(), []
    processor_seconds = census_seconds * processor_share
    cost = Cost(census_seconds, processor_seconds, round(2e6 * processor_seconds) if work is None else work)
    for step in range(1, until + 1):
        if is_due(schedule, spending, step=step, elapsed=step * step_seconds, counters={}):
            spending.add(cost, step=step, counters={})
            steps.append(step)
    return steps


def test_entries_of_forwards_follow_the_first_steps_then_one_per_octave_and_each_that_was_asked_for() -> None:
    assert [step for step in PLAN if Schedule().wants_entry(step)] == [1, 2, 3, 4, 8, 13, 22]
    assert [step for step in (5, 6, 7, 16, 100) if Schedule().wants_entry(step)] == [5, 7, 100]
    assert [step for step in PLAN if Schedule(copy_step=6, last_step=32).wants_entry(step)] == [
        *(1, 2, 3, 4, 6, 8, 13, 22, 32)
    ]
    assert all(Schedule(steps=frozenset(PLAN)).wants_entry(step) for step in PLAN)


def test_what_comes_every_so_many_steps_meets_half_of_the_entries_at_most() -> None:
    """An evaluation's own forward finds nothing of what the last one left."""
    entries = [step for step in range(9, 3000) if is_census_step(step) and Schedule().wants_entry(step)]
    often = {period: Counter(step % period for step in entries) for period in range(2, 101)}

    assert [period for period, met in often.items() if max(met.values()) > len(entries) / 2] == []
    assert [often[period][0] for period in (10, 20, 50, 100)] == [0] * 4


def test_the_first_eight_are_taken_and_later_ones_wait_for_the_budget() -> None:
    free = PLAN_OF_FEW

    assert due_steps(Schedule(), until=40, census_seconds=1.0, step_seconds=0.1) == free
    assert due_steps(Schedule(), until=40, census_seconds=0.005, step_seconds=0.1) == [*free, 22, 32]


def test_programs_of_seconds_get_the_same_censuses_however_busy_or_slow_the_machine_is() -> None:
    """The pauses are long for others had the processor meanwhile; the program's own steps are not slower, at worst."""
    seconds, work = {"until": 300, "step_seconds": 0.001}, 500_000
    busy = [
        due_steps(Schedule(), census_seconds=0.2 * slower, processor_share=1 / slower, work=work, **seconds)
        for slower in (1, 2, 4, 8, 12)
    ]
    slow = [due_steps(Schedule(), census_seconds=0.2 * slower, work=work, **seconds) for slower in (0.3, 1, 2, 3)]

    assert [*busy, *slow] == [[step for step in range(200) if is_census_step(step)][:14]] * 9


def test_of_fifty_steps_with_a_large_heap_the_late_ones_are_seen_unless_each_takes_long() -> None:
    """As many objects as several libraries bring along; no entry of a forward is taken with them."""
    large, larger = (
        due_steps(Schedule(), until=100, census_seconds=seconds, step_seconds=0.02, work=work)
        for seconds, work in ((0.5, 1_400_000), (0.5, 1_600_000))
    )
    spending = Spending(num_steps=8, total=Cost(4.0, 4.0, 11_200_000), last=Cost(0.5, 0.5, 1_400_000), last_step=16)

    assert (large, larger) == ([*PLAN_OF_FEW, 32, 44, 64], PLAN_OF_FEW)
    assert not can_afford_entry(Schedule(), spending, step=44, elapsed=1.0)


def test_none_is_free_after_ten_seconds_of_processor_time_whatever_was_gone_through() -> None:
    assert due_steps(Schedule(), until=300, census_seconds=1.0, step_seconds=0.001, work=1000) == PLAN[:10]


def test_what_the_user_waits_for_ends_the_free_ones_even_where_the_processor_does_nothing() -> None:
    def slow_disk(wait_seconds: float) -> list[int]:
        return due_steps(Schedule(), until=9999, census_seconds=wait_seconds, step_seconds=0.001, processor_share=0.001)

    until = [step for step in range(9999) if is_census_step(step)]
    assert slow_disk(5.5) == [1]
    assert slow_disk(4.9) == until[:25]
    assert slow_disk(4.0) == until


def test_later_censuses_are_paid_in_what_the_user_waits_for() -> None:
    """But for two and a half seconds that others may have had the processor."""
    free, seconds = PLAN_OF_FEW, {"until": 150, "census_seconds": 4.0, "step_seconds": 10.0}

    assert due_steps(Schedule(), **seconds, processor_share=1.0) == [*free, 40, 80, 120]
    assert due_steps(Schedule(), **seconds, processor_share=0.5) == [*free, 22, 55, 95, 135]


def test_a_planned_census_above_the_share_comes_when_it_is_within_and_the_free_ones_are_not_reckoned() -> None:
    """Steps of 16 ms: what comes after step 64 waits until 28, 56 and 84 seconds have passed."""
    plan = [step for step in range(200) if is_census_step(step)]

    assert due_steps(Schedule(), until=6000, census_seconds=0.28, step_seconds=0.016)[-5:] == [44, 64, 1751, 3501, 5251]
    assert due_steps(Schedule(several_ranks=True), until=300, census_seconds=9.0, step_seconds=0.1) == [*plan, 256]


def test_it_is_known_beforehand_when_a_planned_census_that_is_behind_may_be_paid_for() -> None:
    total, last = Cost(9.0, 9.0, 18_000_000), Cost(0.5, 0.5, 1_000_000)
    spending = Spending(num_steps=9, total=total, paid=Cost(1.0, 1.0), last=last, last_step=128)
    held_back = (Schedule(several_ranks=True), Schedule(steps=frozenset({3})), Schedule(budget_percent=0.0))

    assert [find_payable(Schedule(), spending, step=step) for step in (192, 193, 400)] == [inf, 150.0, 150.0]
    assert [is_due(Schedule(), spending, step=400, elapsed=at, counters={}) for at in (149.0, 150.0)] == [False, True]
    assert [find_payable(schedule, spending, step=400) for schedule in held_back] == [inf, inf, inf]


def test_an_entry_follows_a_paid_census_only_where_it_is_within_the_share_too() -> None:
    last = Cost(0.5, 0.5, 1_000_000)
    free, paid = Spending(last=last), Spending(num_steps=9, last=last, total=Cost(9.0, 9.0, 18_000_000))

    def affords(schedule: Schedule, spending: Spending, elapsed: float) -> bool:
        return can_afford_entry(schedule, spending, step=200, elapsed=elapsed)

    assert [affords(Schedule(), spending, 49.0) for spending in (free, paid)] == [True, False]
    assert affords(Schedule(), paid, 50.0)
    small, most = Cost(0.1, 0.1, 200_000), (5_800_000, 5_400_000)
    nearly, still = (Spending(num_steps=9, last=small, total=Cost(0.0, 0.0, work)) for work in most)
    assert (affords(Schedule(), nearly, 1.0), affords(Schedule(), still, 1.0)) == (False, True)
    assert affords(Schedule(last_step=200), paid, 1.0)
    assert affords(Schedule(several_ranks=True), paid, 1.0)


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
        step for step in range(31) if is_census_step(step)
    ]


def test_a_clear_rise_brings_a_census_between_the_planned_ones() -> None:
    spending = Spending()
    spending.add(Cost(0.001, 0.001), step=16, counters={"rss_bytes": 1000 * MIB})

    def due(step: int, rss_mib: int, elapsed: float = 60.0) -> bool:
        return is_due(Schedule(), spending, step=step, elapsed=elapsed, counters={"rss_bytes": rss_mib * MIB})

    assert [due(18, 1200), due(21, 1090), due(21, 1100)] == [False, False, True]
    assert [due(21, 1100, 59.0), due(22, 1100, 59.0)] == [False, True]


def test_limits_say_beforehand_what_a_clear_rise_is() -> None:
    spending = Spending()
    before = {"rss_bytes": 1000 * MIB + 5, "allocated_bytes": 0, "num_ooms": 3}
    spending.add(Cost(0.001, 0.001), step=16, counters=before)
    limits = rise_limits(Schedule(), spending, elapsed=60.0)

    for name, limit in limits:
        for value in (limit - 1, limit):
            now = {name: value}
            assert has_reached(limits, now) == has_risen(before, now) == (value == limit)
    assert {name for name, _ in limits} == {"rss_bytes", "allocated_bytes"}
    assert not has_reached(limits, {})
    assert rise_limits(Schedule(), spending, elapsed=59.0) == ()
    assert rise_limits(Schedule(several_ranks=True), spending, elapsed=60.0) == ()


def test_noise_is_no_rise_and_a_counter_seen_once_says_nothing() -> None:
    assert not has_risen({"rss_bytes": 100 * MIB}, {"rss_bytes": 140 * MIB})
    assert not has_risen({}, {"rss_bytes": 100 * MIB})
    assert has_risen({"allocated_bytes": 0}, {"allocated_bytes": 16 * MIB})


def test_a_closer_look_has_a_share_for_itself_whatever_the_censuses_before_it_took() -> None:
    spending = Spending(total=Cost(100.0, 100.0), paid=Cost(9.0, 9.0), last=Cost(0.6, 0.5))
    long = Spending(last=Cost(6.0, 6.0))
    looks = [can_afford_look(Schedule(), spending, elapsed=elapsed) for elapsed in (19.9, 20.1)]
    long_looks = [can_afford_look(Schedule(), long, elapsed=elapsed) for elapsed in (599.0, 600.0)]
    others = (Schedule(several_ranks=True), Schedule(steps=frozenset({3})), Schedule(budget_percent=0.0))

    assert looks == long_looks == [False, True]
    assert not any(can_afford_look(schedule, spending, elapsed=1e6) for schedule in others)


@pytest.mark.parametrize(
    "schedule",
    [Schedule(), Schedule(last_step=50, copy_step=45), Schedule(steps=frozenset([5, 40, 41]), last_step=50)],
    ids=["by itself", "with two that are asked for", "chosen"],
)
def test_the_next_planned_step_is_found_without_asking_of_each(schedule: Schedule) -> None:
    def scan(step: int, last: int) -> int:
        return next((near for near in range(step + 1, last) if schedule.is_planned(near)), last)

    asked = [(step, step + 33) for step in (*range(1, 520), 1530, 1534, 2047, 2048)]
    assert [schedule.find_planned(*near) for near in asked] == [scan(*near) for near in asked]


def test_where_training_begins_late_its_first_steps_are_looked_at_as_those_of_a_program_that_begins_with_it() -> None:
    late = Schedule().begin_training(100)
    first = [step for step in range(1, 65) if is_census_step(step)]
    entries = [step for step in first if Schedule().wants_entry(step)]
    in_training = [100 + step for step in first]

    assert [step for step in range(1, 101) if late.is_planned(step)] == [*first, 95]
    assert [step for step in range(101, 300) if late.is_planned(step)] == sorted({*in_training, 128, 193, 256})
    assert [step for step in in_training if late.wants_entry(step)] == [100 + step for step in entries]
    assert late.wants_entry(193)
    assert not late.wants_entry(256)
    assert [late.find_planned(step, 999) for step in (99, 100, 104, 150, 164, 165)] == [101, 101, 106, 164, 193, 193]


def test_a_training_that_begins_within_eight_steps_is_no_late_one() -> None:
    assert [Schedule().begin_training(step).begun for step in (0, 8, 9)] == [0, 0, 9]
    asked = Schedule(steps=frozenset({3, 200})).begin_training(100)
    assert [step for step in range(1, 300) if asked.is_planned(step)] == [3, 200]


def test_of_a_late_training_some_steps_are_free_when_the_calls_before_it_took_what_was() -> None:
    late = Schedule().begin_training(100)
    spent = Spending(num_steps=14, total=Cost(4.0, 4.0, 11_200_000), last=Cost(0.5, 0.5, 1_400_000), last_step=95)

    due = [step for step in range(101, 170) if is_due(late, spent, step=step, elapsed=5.0, counters={})]

    assert due == [100 + step for step in (2, 8, 16, 32, 44, 64)]
