from __future__ import annotations

from tenure.capture.steps.next_decision import NextDecision
from tenure.capture.steps.schedule import Schedule
from tenure.capture.steps.spending import Cost, Spending
from tenure.capture.steps.watched_steps import WatchedSteps


class Planned(WatchedSteps):
    """Decides again after the step that is asked for."""

    def __init__(self) -> None:
        pass

    def find_next_decision(self, step, find_planned):  # type: ignore[no-untyped-def]
        return find_planned(step, step + 100)


def a_plan(spending: Spending, *, step: int, elapsed: float) -> NextDecision:
    """Planned after `step`, for ten steps later."""
    decision = NextDecision(Planned())
    decision.plan(step, Schedule(), spending, elapsed=elapsed, find_planned=lambda step, last: step + 10)
    return decision


def asked(decision: NextDecision, step: int, elapsed: float = 70.0, **counters: int) -> bool:
    return decision.has_come(step, elapsed=elapsed, counters=counters)


def test_the_first_step_and_the_planned_ones_are_to_decide_after_and_those_between_only_when_asked() -> None:
    first = asked(NextDecision(Planned()), 1)
    decision = a_plan(Spending(last_step=16), step=20, elapsed=1.0)
    planned = [asked(decision, step) for step in (21, 29, 30, 31)]
    decision.at_once()

    assert (first, planned, asked(decision, 22)) == (True, [False, False, True, True], True)


def test_a_counter_that_has_risen_by_a_tenth_is_to_decide_after_once_a_minute_has_passed() -> None:
    spending = Spending(last_step=16, counters={"allocated_bytes": 1000 << 20})

    early, later = (a_plan(spending, step=20, elapsed=elapsed) for elapsed in (59.0, 61.0))

    assert [asked(each, 21, allocated_bytes=1110 << 20) for each in (early, later)] == [False, True]
    assert not asked(later, 21, allocated_bytes=1090 << 20)


def test_a_census_that_was_above_the_share_is_to_decide_after_as_soon_as_it_may_be_paid() -> None:
    spending = Spending(num_steps=100, last_step=128)
    spending.last = spending.total = Cost(seconds=2.0, processor_seconds=2.0, work=1 << 40)
    spending.longest_seconds = 2.0

    decision = a_plan(spending, step=200, elapsed=50.0)

    assert [asked(decision, 201, elapsed=seconds) for seconds in (199.0, 201.0)] == [False, True]
