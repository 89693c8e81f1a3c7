from __future__ import annotations

import pytest
import torch

from tenure.capture.steps.evaluation_calls import EvaluationCalls


def run(calls: EvaluationCalls, *phases: int) -> list[list[str]]:
    """The moments at which a census is due in steps with so many calls each."""
    taken = []
    for number in phases:
        taken.append([moment for _ in range(number) if (moment := calls.take_call())])
        calls.end_step()
    return taken


def run_on(calls: EvaluationCalls, number: int) -> None:
    for _ in range(number):
        calls.take_call()


def test_an_evaluation_is_looked_into_ever_more_rarely_up_to_its_96th_call() -> None:
    numbers = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96)

    assert run(EvaluationCalls(), 500) == [[f"evaluation-{number}" for number in numbers]]


def test_calls_that_autograd_records_have_a_name_of_their_own() -> None:
    calls = EvaluationCalls()

    assert [calls.take_call(with_graph=at > 3) for at in range(6)][3:] == ["evaluation-4", None, "evaluation-graph-6"]


def test_after_its_96th_call_no_other_of_an_evaluation_is_looked_at() -> None:
    calls = EvaluationCalls()

    assert [(run_on(calls, number), calls.is_over)[1] for number in (95, 1, 1)] == [False, True, True]
    calls.end_step()
    assert not calls.is_over


def test_a_few_calls_are_no_evaluation() -> None:
    assert run(EvaluationCalls(), 3, 3, 3) == [[], [], []]


def test_three_evaluations_are_looked_into() -> None:
    assert [len(moments) for moments in run(EvaluationCalls(), 4, 0, 12, 32, 80)] == [1, 0, 1, 1, 0]


def test_an_evaluation_like_the_one_before_is_not_looked_into_again() -> None:
    assert [len(moments) for moments in run(EvaluationCalls(), 40, 0, 40, 41)] == [7, 0, 0, 0]


def test_a_policy_that_acts_in_every_step_is_no_evaluation() -> None:
    calls = EvaluationCalls()
    run(calls, 8, 8, 8)

    assert run(calls, 8, 8, 60) == [[], [], ["evaluation-24", "evaluation-32", "evaluation-48"]]


@pytest.mark.parametrize(
    ("watched", "before", "told"),
    [(True, 0, ["evaluation-graph-2"]), (False, 0, []), (True, 1, [])],
)
def test_a_pair_of_calls_that_autograd_records_is_an_evaluation_where_a_watched_step_had_none(
    watched: bool, before: int, told: list[str]
) -> None:
    """A step of training that calls a model twice in evaluation mode does so in each."""
    calls = EvaluationCalls()
    for _ in range(before):
        calls.take_call(with_graph=True)
    calls.end_step(watched=watched)

    assert [moment for _ in range(3) if (moment := calls.take_call(with_graph=True))] == told


def test_the_first_call_that_a_census_was_due_before_is_looked_at_as_it_returns_where_it_has_a_graph() -> None:
    calls, graph = EvaluationCalls(), torch.ones(2, requires_grad=True) * 2
    calls.end_step()

    returned = []
    for with_graph in (True, True, True):
        calls.take_call(with_graph=with_graph)
        returned.append(calls.take_return(graph))
    assert returned == [None, "evaluation-returned-2", None]
    assert calls.take_backward() == {}

    graph.sum().backward()
    assert calls.take_backward() == {}


@pytest.mark.parametrize(("with_graph", "detached"), [(False, False), (True, True)])
def test_calls_without_a_graph_are_not_looked_at_as_they_return(with_graph: bool, detached: bool) -> None:
    calls, graph = EvaluationCalls(), torch.ones(2, requires_grad=True) * 2
    for _ in range(4):
        moment = calls.take_call(with_graph=with_graph)

    assert moment == f"evaluation-{'graph-' * with_graph}4"
    assert calls.take_return(graph.detach() if detached else graph) is None


def test_a_backward_pass_through_an_evaluations_output_is_a_counter_of_its_step() -> None:
    calls, graph = EvaluationCalls(), torch.ones(2, requires_grad=True) * 2
    for _ in range(4):
        calls.take_call(with_graph=True)
    calls.take_return(graph)
    graph.sum().backward()

    assert [calls.take_backward(), calls.take_backward()] == [{"evaluation_backward": 1}, {}]
