from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.growth.evaluated_with_graph import (
    find_evaluated_with_graph,
    find_returned_with_graph,
    find_unusual_with_graph,
)
from tenure.model.heap import Census
from tenure.rules.evaluation_with_graph import check_suspect

MODEL = "main.model -> t.Net#net -> ._parameters dict -> ['w'] parameter#w 8MiB parameter\n"
STITCHED = (
    "Windows.run(tiles.py:27).blended -> tensor 1MiB activation -> .grad_fn CopySlices#graph -> .next ConvBackward"
)
SAVED = f"{STITCHED} -> .saved tensor 2MiB activation\n{STITCHED} -> .saved parameter#w\n"
SAVED += f"main.volume -> tensor#volume 4MiB\n{STITCHED} -> .saved tensor#volume\n"
FREED = SAVED.replace("#graph", "#graph freed").replace("ConvBackward", "ConvBackward freed")


def evaluation(*texts: str, moment: str = "evaluation-graph") -> tuple[Census, ...]:
    return tuple(
        census(MODEL + text, step=5, moment=f"{moment}-{call}") for call, text in zip((4, 6), texts, strict=False)
    )


def test_what_graphs_of_an_evaluation_save_is_told_where_most_is_there() -> None:
    (found,) = find_evaluated_with_graph([evaluation(SAVED, ""), ()])

    assert (found.symptom, found.holder.name, found.retained_bytes) == ("peak", "blended", 2 << 20)
    assert (found.series.moment, found.series.steps, found.series.bytes) == ("evaluation-graph-4", (5,), (2 << 20,))
    told = check_suspect(found)
    assert told is not None
    assert (told.rule, told.confidence) == ("TN108", "likely")


@pytest.mark.parametrize(
    "evaluations",
    [
        [evaluation(FREED)],
        [evaluation(SAVED, moment="evaluation")],
        [evaluation(SAVED.replace("2MiB", "2KiB"))],
        [evaluation(SAVED), evaluation("")],
        [],
    ],
    ids=["backward went through them", "without autograd", "next to nothing", "a later one has none", "no evaluation"],
)
def test_other_evaluations_are_not_told(evaluations: list[tuple[Census, ...]]) -> None:
    assert find_evaluated_with_graph(evaluations) == ()


GIVEN_BACK = (
    "Module._call_impl(module.py:9).result -> tensor 4B activation -> .grad_fn TanhBackward0 -> .saved tensor {size}\n"
    "Scorer.score(scoring.py:20).batch -> tensor#batch 1MiB input\n"
)


def returned(size: str, functions: str = "Scorer.score(scoring.py:20).self -> t.Scorer\n") -> Census:
    return census(MODEL + GIVEN_BACK.format(size=size) + functions, step=5, moment="evaluation-returned-2")


def test_what_a_call_gives_back_with_its_graph_is_told_of_the_call_where_it_saves_most() -> None:
    (found,) = find_returned_with_graph([returned("2MiB"), returned("3MiB")])

    assert (found.symptom, found.retained_bytes, found.series.bytes) == ("peak", 3 << 20, (3 << 20,))
    told = check_suspect(found)
    assert told is not None
    assert (told.rule, told.confidence) == ("TN108", "likely")
    assert "its output holds its activations" in told.message


@pytest.mark.parametrize("censuses", [[], [returned("1000KiB")], [returned("300KiB")]])
def test_what_saves_less_than_a_megabyte_is_not_told(censuses: list[Census]) -> None:
    assert find_returned_with_graph(censuses) == ()


def test_what_is_little_beside_all_else_is_not_told() -> None:
    much = "main.table -> tensor 80MiB\n"

    assert find_returned_with_graph([returned("2MiB", much)]) == ()


def test_what_a_model_that_was_left_in_training_mode_gives_back_is_told_as_such() -> None:
    (found,) = find_unusual_with_graph([returned("2MiB")])

    told = check_suspect(found)
    assert told is not None
    assert (told.rule, told.confidence, told.retained_bytes) == ("TN108", "likely", 2 << 20)
    assert "called in training mode with autograd on" in told.message
    assert "`eval()`" in told.remedies[0].summary
