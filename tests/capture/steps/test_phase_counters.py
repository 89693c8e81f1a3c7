from __future__ import annotations

from itertools import count

from tenure.capture.steps.call_cost import FREE_SECONDS, SHARE
from tenure.capture.steps.phase_counters import DEVICE_READING_SECONDS, READING_SECONDS, PhaseCounters


def counters(*values: int) -> PhaseCounters:
    """Each reading gives the next value of resident memory."""
    waiting = iter(values)
    phases = PhaseCounters(lambda: {"rss_bytes": next(waiting)})
    phases.begin_step(1, elapsed=0.0, watched=True)
    return phases


def test_a_steps_phases_have_the_counter_as_it_was_at_their_ends() -> None:
    phases = counters(10, 30, 20)

    phases.enter_forward()
    phases.leave_forward(evaluates=False)
    phases.enter_optimizer()

    assert phases.end_step() == {"between_steps_rss_bytes": 10, "forward_rss_bytes": 30, "backward_rss_bytes": 20}
    assert phases.end_step() == {}


def test_of_several_forwards_the_most_is_told_and_what_lies_between_steps_is_that_before_the_first() -> None:
    phases = counters(10, 30, 50, 40, 20)

    for _ in range(3):
        phases.enter_forward()
        phases.leave_forward(evaluates=False)
    phases.enter_optimizer()

    assert phases.end_step() == {"between_steps_rss_bytes": 10, "forward_rss_bytes": 50, "backward_rss_bytes": 20}


def test_of_an_evaluation_ever_fewer_calls_are_read() -> None:
    values = count(1)
    phases = PhaseCounters(lambda: {"rss_bytes": next(values)})
    phases.begin_step(1, elapsed=0.0, watched=True)

    for _ in range(100):
        phases.leave_forward(evaluates=True)

    assert phases.end_step() == {"evaluation_rss_bytes": len([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96])}


def test_counters_that_say_nothing_of_a_phase_are_left_out() -> None:
    phases = PhaseCounters(lambda: {"allocated_bytes": 3, "num_ooms": 0})
    phases.begin_step(1, elapsed=0.0, watched=True)
    phases.leave_forward(evaluates=False)

    assert phases.end_step() == {"forward_allocated_bytes": 3}
    assert phases.seconds == DEVICE_READING_SECONDS


def test_steps_whose_calls_nobody_watches_are_not_read() -> None:
    phases = counters()
    phases.begin_step(2, elapsed=0.0, watched=False)

    phases.enter_forward()
    phases.leave_forward(evaluates=False)
    phases.enter_optimizer()

    assert phases.end_step() == {}


def test_all_readings_together_take_a_thousandth_of_the_run_at_most() -> None:
    values = count(1)
    phases = PhaseCounters(lambda: {"rss_bytes": next(values)})
    step_seconds = 0.005
    for step in range(1, 20_001):
        phases.begin_step(step, elapsed=step * step_seconds, watched=True)
        phases.enter_forward()
        phases.leave_forward(evaluates=False)
        phases.enter_optimizer()

    spent = READING_SECONDS * (next(values) - 1)
    allowed = FREE_SECONDS + SHARE * 20_000 * step_seconds
    assert 0.9 * allowed < spent <= allowed + 3 * READING_SECONDS


def test_the_peak_is_told_in_the_phase_in_which_it_rises() -> None:
    read = iter([(1, 10), (4, 10), (2, 12), (1, 12)])

    def values() -> dict[str, int]:
        allocated, peak = next(read)
        return {"allocated_bytes": allocated, "allocated_peak_bytes": peak}

    phases = PhaseCounters(values)
    phases.begin_step(1, elapsed=0.0, watched=True)
    phases.enter_forward()
    phases.leave_forward(evaluates=False)
    phases.enter_optimizer()
    first = phases.end_step()
    phases.begin_step(2, elapsed=0.0, watched=True)
    phases.enter_forward()

    assert first == {
        "between_steps_allocated_bytes": 1,
        "forward_allocated_bytes": 4,
        "backward_allocated_bytes": 2,
        "backward_allocated_peak_bytes": 12,
    }
    assert phases.end_step() == {"between_steps_allocated_bytes": 1}
