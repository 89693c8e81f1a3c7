from __future__ import annotations

from dataclasses import replace

import pytest

from heaps import census
from tenure.analysis.growth.evaluated_with_graph import find_evaluated_with_graph, told_by_the_call
from tenure.model.heap import Census
from tenure.model.source import SourceLocation
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


@pytest.mark.parametrize(("calls", "line"), [((("tiles.py", 27, "Windows.run"),), 27), ((), 12)])
def test_it_is_told_at_the_programs_own_call_of_the_model(calls: tuple[object, ...], line: int) -> None:
    (found,) = find_evaluated_with_graph([evaluation(SAVED)])
    made = replace(found.holder, sites=(SourceLocation("tiles.py", 12, "Windows.run"),))

    told = told_by_the_call(replace(found, holder=made, facts=found.facts | {"running": calls}))

    assert told.holder.sites == (SourceLocation("tiles.py", line, "Windows.run"),)
