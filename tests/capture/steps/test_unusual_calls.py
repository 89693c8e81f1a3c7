from __future__ import annotations

import pytest
import torch

from tenure.capture.steps.unusual_calls import UnusualCalls


def output() -> torch.Tensor:
    return torch.ones(2, requires_grad=True) * 2


def run(calls: UnusualCalls, *numbers: int) -> list[list[str]]:
    """The moments at which a census is due in steps with so many calls each."""
    taken = []
    for number in numbers:
        taken.append([moment for _ in range(number) if (moment := calls.take_return(output()))])
        calls.end_step()
    return taken


def test_more_calls_than_in_any_step_before_are_looked_at_once_two_were_watched() -> None:
    assert run(UnusualCalls(), 1, 3, 2, 3, 20) == [[], [], [], [], [f"evaluation-training-{n}" for n in (4, 5, 7, 11)]]


@pytest.mark.parametrize("watched", [True, False])
def test_a_step_that_was_not_watched_does_not_say_how_many_calls_are_usual(watched: bool) -> None:
    calls = UnusualCalls()
    run(calls, 1)
    calls.take_return(output())
    calls.end_step(watched=watched)

    assert run(calls, 2) == [["evaluation-training-2"] if watched else []]


def test_steps_without_calls_are_not_known_to_have_none() -> None:
    assert run(UnusualCalls(), 0, 0, 1, 0, 1, 2) == [[], [], [], [], [], ["evaluation-training-2"]]


def test_four_series_of_such_calls_are_looked_into() -> None:
    assert [len(moments) for moments in run(UnusualCalls(), 1, 1, 2, 3, 3, 4, 5, 6)] == [0, 0, 1, 1, 0, 1, 1, 0]


def test_calls_without_a_graph_are_not_counted() -> None:
    calls = UnusualCalls()
    run(calls, 1, 1)

    assert [calls.take_return(output().detach()) for _ in range(5)] == [None] * 5
    assert run(calls, 1, 2) == [[], ["evaluation-training-2"]]


def test_the_first_such_call_that_a_backward_pass_went_through_is_a_counter_of_its_step() -> None:
    calls = UnusualCalls()
    run(calls, 1, 1)
    given = [output() for _ in range(4)]
    for each in given:
        calls.take_return(each)
    given[3].sum().backward()  # a fourth call is not looked at
    given[2].sum().backward()

    assert [calls.take_backward(), calls.take_backward()] == [{"unusual_backward": 3}, {}]


def test_a_step_without_a_backward_pass_through_them_has_no_such_counter() -> None:
    calls = UnusualCalls()
    run(calls, 1, 1)
    first, second = output(), output()
    calls.take_return(first)
    calls.take_return(second)
    first.sum().backward()

    assert calls.take_backward() == {}
