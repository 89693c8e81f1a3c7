from __future__ import annotations

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
