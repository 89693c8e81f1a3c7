from __future__ import annotations

import dataclasses

import pytest

from tenure.model.outlook import (
    Ahead,
    CarriedIntoForward,
    CounterOutlook,
    PeakShares,
    PhasePeaks,
    RunOutlook,
    StepPeak,
    StepPhase,
)
from tenure.report.outlook import outlook_as_dict, render_outlook

MIB = 1 << 20
COUNTER = CounterOutlook(
    name="allocated_bytes",
    last_bytes=900 * MIB,
    highest_bytes=1200 * MIB,
    baseline_bytes=880 * MIB,
    phase_from=12,
    grows_per_step=2048.0,
    grows_error=64.0,
    grows_from=13,
    period_steps=50,
    amplitude_bytes=3 * MIB,
    ahead=Ahead("device", 700 * MIB, 31_234.0, 28_000.0, 35_500.0, 0.5),
)
OUTLOOK = RunOutlook(
    path="run",
    rank=1,
    steps=12_345,
    seconds=7200.0,
    seconds_per_step=0.5,
    end=None,
    counters=(COUNTER,),
    beside_allocator_bytes=500 * MIB,
    split_share=0.12,
    idle_share=0.3,
    largest_input=(262_144, 9_120),
    longest_input=512,
    peak_bytes_per_element=2150.0,
    roles={"parameter": 5 * MIB, "optimizer_state": 10 * MIB, "buffer": 0},
    roles_at=96,
    roles_at_peak={"activation": 7 * MIB},
    notes=("3 rows are missing",),
    peaks=(StepPeak(6, None, {"activation": 7 * MIB}), StepPeak(9_120, 1200 * MIB, None, "backward")),
    peak_shares=PeakShares(0.7, 0.25, 0.05, 2150.0, 12),
    carried_into_forward=CarriedIntoForward(96, 3 * MIB, 0.2),
    idle_grows_per_step=1024.0,
    ran_out=StepPeak(9_121, None, {"activation": 9 * MIB}),
    phase_peaks=PhasePeaks(6, "cuda:0", {"forward": 7 * MIB, "backward": 9 * MIB, "other": 0}),
    step_phases=(
        StepPhase("allocated_bytes", "between_steps", 890 * MIB, 880 * MIB, 900 * MIB, 40, 12_340),
        StepPhase("allocated_bytes", "forward", 1100 * MIB, 1000 * MIB, 1150 * MIB, 40, 12_340),
        StepPhase("rss_bytes", "optimizer", 5 * MIB, 4 * MIB, 6 * MIB, 40, 12_340),
    ),
)


def test_all_that_is_known_is_drawn() -> None:
    assert render_outlook(OUTLOOK, width=200) == (
        "run           rank 1 · step 12,345 · 2 h · 2.0 steps per second · no end was recorded\n"
        "allocated     900.00 MiB · baseline 880.00 MiB since step 12 · highest 1.17 GiB · grows by 2.00 KiB (± 128 B) "
        "per step · falls every 50 steps by 3.00 MiB\n"
        "              out of memory (device) in about 31,000 steps, 90 % between 28,000 and 36,000; "
        "about 4.3 h, 3.9 h to 4.9 h\n"
        "beside it     500.00 MiB of this process on the device\n"
        "fragmentation 30 % of what is reserved is not in use, 12 % in split blocks; it grows by 1.00 KiB per "
        "step\n"
        "inputs        largest 262,144 elements (step 9,120), longest 512; the peak rises by 2.10 KiB per element\n"
        "ran out       of device memory after step 9,121: activation 9.00 MiB; `tenure export --blocks` names "
        "the owners\n"
        "peak          highest 1.17 GiB in step 9,120, in its backward · in step 6 tensors were activation 7.00 MiB · "
        "what the highest was made of is not known\n"
        "in steps      allocated 890.00 MiB into the forward · 1.07 GiB after forward\n"
        "              resident 5.00 MiB after the optimizer\n"
        "phases        forward 7.00 MiB · backward 9.00 MiB at most, of what step 6 touched\n"
        "peaks differ  70 % with the batch, 25 % with what was carried over from the step before, 5 % with neither (12 "
        "new highest peaks)\n"
        "carried over  3.00 MiB, 20 % of all tensors, by step 96, into the next forward\n"
        "roles         optimizer state 10.00 MiB · parameter 5.00 MiB (census after step 96)\n"
        "note          3 rows are missing\n"
    )


def test_a_counter_that_is_the_same_at_the_end_of_each_phase_is_told_once() -> None:
    phases = tuple(StepPhase("rss_bytes", phase, 5 * MIB, 5, 5, 9, 9) for phase in ("forward", "optimizer"))

    told = render_outlook(dataclasses.replace(OUTLOOK, step_phases=phases), width=200)

    assert "in steps      resident 5.00 MiB at the end of each phase\n" in told


def test_a_terminal_of_ascii_gets_nothing_else() -> None:
    drawn = render_outlook(OUTLOOK, width=200, ascii_only=True)

    assert drawn.isascii()
    assert "grows by 2.00 KiB (+- 128 B) per step - falls" in drawn


def test_what_was_not_measured_has_no_line() -> None:
    bare = CounterOutlook("rss_bytes", 5, 5, 5, 1)
    outlook = RunOutlook("run", None, 3, 40.0, None, "exit", (bare,), None, None, None, None, None, None)

    assert render_outlook(outlook, width=100, ascii_only=True) == (
        "run           step 3 - 40 s - ended: exit\nresident      5 B - baseline 5 B since step 1 - highest 5 B\n"
    )


@pytest.mark.parametrize("width", [1, 20, 40, 80])
def test_lines_fit_as_far_as_words_do(width: int) -> None:
    lines = render_outlook(OUTLOOK, width=width).splitlines()

    assert max(map(len, lines)) <= max(width, 20)


def test_growth_without_a_latest_end_says_so() -> None:
    ahead = Ahead("cgroup", MIB, 500.0, 300.0, None, None)
    text = render_outlook(
        dataclasses.replace(OUTLOOK, counters=(dataclasses.replace(COUNTER, ahead=ahead),)), width=200
    )

    assert "out of memory (cgroup) in about 500 steps, 90 % between 300 and no latest\n" in text


@pytest.mark.parametrize(("days", "told"), [(29, 1), (31, 0)])
def test_an_end_that_is_more_than_a_month_ahead_is_left_to_json(days: int, told: int) -> None:
    ahead = Ahead("device", 700 * MIB, days * 86400.0, 1.0, None, 1.0)
    outlook = dataclasses.replace(OUTLOOK, counters=(dataclasses.replace(COUNTER, ahead=ahead),))

    assert render_outlook(outlook, width=200).count("out of memory (device) in about") == told
    assert f"'steps': {days * 86400.0}" in str(outlook_as_dict(outlook))


def test_json_has_plain_values_only() -> None:
    told = outlook_as_dict(OUTLOOK)

    assert told["counters"][0]["ahead"]["limit"] == "device"  # type: ignore[index]
    assert told["largest_input"] == (262_144, 9_120)


@pytest.mark.parametrize(("running", "said"), [(True, "running"), (False, "no end was recorded")])
def test_a_run_that_is_seen_to_go_on_is_told_from_one_that_left_no_end(running: bool, said: str) -> None:
    first = render_outlook(dataclasses.replace(OUTLOOK, running=running), width=200).splitlines()[0]

    assert first.endswith(f"steps per second · {said}")


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("exit", "ended: exit"),
        ("recorder-failure", "the recorder stopped: it failed, or could not write"),
        ("budget", "the recorder stopped: it had used up its budget"),
    ],
)
def test_an_end_of_the_recorder_is_no_end_of_the_program(end: str, said: str) -> None:
    first = render_outlook(dataclasses.replace(OUTLOOK, end=end), width=200).splitlines()[0]

    assert first.endswith(f"steps per second · {said}")
