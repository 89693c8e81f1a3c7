import pytest

from tenure.capture.steps.call_cost import FREE_SECONDS, SHARE, CallCost


def test_until_calls_have_cost_what_is_free_every_step_is_watched() -> None:
    assert all(CallCost(num_calls=1000).allows(step, elapsed=0.0) for step in range(1, 500))


def test_calls_that_have_cost_more_than_they_may_are_not_watched() -> None:
    spent = CallCost(num_calls=100_000)

    assert not any(spent.allows(step, elapsed=1.0) for step in range(1, 500))


def test_in_a_long_run_a_share_of_the_steps_is_watched_that_meets_every_period() -> None:
    elapsed = 1000.0
    spent = CallCost(num_calls=round((FREE_SECONDS + 4 * SHARE * elapsed / 5) / 3e-6))
    watched = [step for step in range(1, 1001) if spent.allows(step, elapsed=elapsed)]
    few = [step for step in watched if step * 0.6180339887498949 % 1 < 0.2]

    assert len(watched) > 800
    assert {step % period for period in (7, 10, 18) for step in few} >= set(range(18))


def test_what_was_done_is_reckoned_in_seconds() -> None:
    assert CallCost(num_installed=10, num_calls=1000, num_root_calls=20).seconds == pytest.approx(0.0046)
