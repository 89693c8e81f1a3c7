from __future__ import annotations

import time

import pytest

from tenure.capture.steps.run_clock import RunClock


class Ticks:
    """A clock set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    found = Ticks()
    monkeypatch.setattr(time, "perf_counter", found)
    return found


def test_a_step_lasts_from_where_it_began_to_its_end_without_what_is_left_out(ticks: Ticks) -> None:
    clock = RunClock()
    ticks.now = 103.0
    first = (clock.end_step(), clock.step_seconds)
    ticks.now = 105.0
    clock.begin_step()
    ticks.now = 106.0
    with clock.left_out():
        ticks.now = 110.0
    clock.leave_out(0.5)
    ticks.now = 112.0
    second = (clock.end_step(), clock.step_seconds)

    assert [first, second] == [(3.0, 3.0), (12.0, 2.5)]


def test_what_ends_in_an_error_is_left_out_as_well(ticks: Ticks) -> None:
    clock = RunClock()

    def fail() -> None:
        with clock.left_out():
            ticks.now = 104.0
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    ticks.now = 105.0
    clock.end_step()

    assert clock.step_seconds == 1.0


@pytest.mark.parametrize(
    ("step_seconds", "silent_from"),
    [(0.01, 1.0), (3.0, 30.0)],
)
def test_no_step_is_awaited_after_a_second_and_ten_times_the_last_step(
    ticks: Ticks, step_seconds: float, silent_from: float
) -> None:
    clock = RunClock()
    ticks.now += step_seconds
    clock.end_step()

    asked = [clock.is_silent(ticks.now + silent_from + difference) for difference in (-0.001, 0.001)]

    assert asked == [False, True]
