from __future__ import annotations

from tenure.analysis.watching.step_phases import phase_of_peak, read_step_phases
from tenure.model.outlook import StepPhase
from tenure.model.recording import Step


def step(number: int, **counters: int) -> Step:
    return Step(number, number / 2, 0.5, counters)


def test_each_phase_has_its_last_level_its_baseline_and_its_highest() -> None:
    steps = [
        step(number, rss_bytes=number, between_steps_rss_bytes=100 + number, forward_rss_bytes=200 + number)
        for number in range(1, 31)
    ]

    assert read_step_phases(steps) == (
        StepPhase("rss_bytes", "between_steps", 120, 103, 130, 30, 30),
        StepPhase("rss_bytes", "forward", 220, 203, 230, 30, 30),
        StepPhase("rss_bytes", "optimizer", 20, 3, 30, 30, 30),
    )


def test_steps_that_were_not_read_within_are_no_part_of_it() -> None:
    steps = [step(1, rss_bytes=900), step(2, rss_bytes=5, backward_rss_bytes=7), step(3, rss_bytes=900)]

    assert read_step_phases(steps) == (
        StepPhase("rss_bytes", "backward", 7, 7, 7, 1, 2),
        StepPhase("rss_bytes", "optimizer", 5, 5, 5, 1, 2),
    )


def test_an_evaluation_long_ago_is_told_by_its_last() -> None:
    rare = [step(1, evaluation_rss_bytes=3), step(2, evaluation_rss_bytes=4)]
    steps = [*rare, *(step(number, forward_rss_bytes=9) for number in range(3, 40))]

    assert [(phase.phase, phase.lately_bytes) for phase in read_step_phases(steps)] == [
        ("evaluation", 4),
        ("forward", 9),
    ]


def test_where_nothing_was_read_within_steps_nothing_is_told() -> None:
    assert read_step_phases([step(1, rss_bytes=3)]) == ()
    assert read_step_phases([]) == ()


def test_a_peak_came_in_the_phase_in_which_it_rose_last() -> None:
    read = {"between_steps_allocated_bytes": 5, "forward_allocated_bytes": 6, "backward_allocated_bytes": 5}
    steps = [
        step(1, **read, forward_allocated_peak_bytes=7, backward_allocated_peak_bytes=9),
        step(2, **read, forward_allocated_peak_bytes=10),
        step(3, **read),
        step(4, rss_bytes=1),
    ]

    assert [phase_of_peak(steps, number) for number in (1, 2, 3, 4)] == ["backward", "forward", "optimizer", None]
