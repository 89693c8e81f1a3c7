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


@pytest.mark.parametrize("num_calls", [0, 24_999, 25_100, 30_000, 60_000, 400_000])
def test_the_next_step_that_is_allowed_is_the_first_of_which_it_is_said(num_calls: int) -> None:
    spent = CallCost(num_calls=num_calls)

    def scan(step: int) -> int:
        near = (near for near in range(step + 1, step + 33) if spent.allows(near, elapsed=10 + 0.05 * (near - step)))
        return next(near, step + 33)

    found = [spent.next_allowed(step, step + 33, elapsed=10.0, per_step=0.05) for step in range(300)]
    assert found == [scan(step) for step in range(300)]
