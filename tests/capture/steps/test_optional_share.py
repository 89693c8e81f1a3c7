from __future__ import annotations

import pytest

from tenure.capture.steps.optional_share import FIRST_GUESS, LEAST, STEP_SECONDS, STEP_SHARE, OptionalShare


def share(*, own: float, price: float, step_seconds: float, steps: int = 4000) -> OptionalShare:
    """After so many steps of which each second one did what is optional, reckoned at 180 microseconds."""
    found = OptionalShare()
    for _ in range(steps // 2):
        found.take(steps=1, seconds=step_seconds, own_seconds=own, reckoned_seconds=0.0)
        found.take(steps=1, seconds=step_seconds, own_seconds=own + price * 180e-6, reckoned_seconds=180e-6)
    return found


def test_on_a_fast_machine_all_of_the_run_counts() -> None:
    fast = share(own=15e-6, price=0.5, step_seconds=0.005)

    assert fast.factor == 1.0
    assert fast.counted_seconds == pytest.approx(4000 * 0.005)
    assert not fast.is_overdrawn


def test_what_is_left_beside_what_every_step_needs_goes_into_the_rest() -> None:
    slow = share(own=50e-6, price=1.5, step_seconds=0.05)
    left = STEP_SECONDS + STEP_SHARE * 0.05 - 50e-6

    assert slow.factor == pytest.approx(left / (0.002 * 0.05 * 1.5), rel=0.2)
    assert slow.factor * 0.002 * 0.05 * 1.5 + 50e-6 == pytest.approx(STEP_SECONDS + STEP_SHARE * 0.05, rel=0.05)


def test_a_machine_that_is_slow_for_such_steps_does_little_of_it_and_says_so() -> None:
    slow = share(own=90e-6, price=2.0, step_seconds=0.005)

    assert slow.factor == LEAST
    assert slow.counted_seconds < 0.2 * 4000 * 0.005
    assert slow.is_overdrawn
    assert not share(own=70e-6, price=2.0, step_seconds=0.05).is_overdrawn


def test_the_first_steps_do_not_show_a_slow_machine() -> None:
    assert FIRST_GUESS < STEP_SECONDS / 2
    assert not share(own=500e-6, price=2.0, step_seconds=0.005, steps=30).is_overdrawn
    assert share(own=500e-6, price=2.0, step_seconds=0.005, steps=100).is_overdrawn


def test_a_few_steps_out_of_all_proportion_do_not_matter() -> None:
    steady, struck = (share(own=15e-6, price=1.0, step_seconds=0.05) for _ in range(2))
    struck.take(steps=16, seconds=0.8, own_seconds=3.0, reckoned_seconds=0.0)

    assert struck.factor == pytest.approx(steady.factor, rel=0.02)
