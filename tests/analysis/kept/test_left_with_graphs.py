"""What an evaluation late in a short run leaves with its graph: seen at two steps' ends, at no forward's entry."""

from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census
from tenure.rules.loss_kept_with_graph import check_suspect

NET = "main.net -> __main__.Net -> ._parameters dict -> ['w'] parameter#w 4MiB\n"
TRACKER = "main.tracker -> __main__.Tracker#tracker -> .value tensor#v{run} 4B"
GRAPH = " -> .grad_fn MeanBackward0#m{run}{freed} -> .saved tensor#s{run} 1MiB activation\n"
STEPS = (4, 8, 16, 22, 32, 44)


def ends(*with_graph: str) -> list[Census]:
    """Six censuses at steps' ends; the last ones have these lines."""
    lines = ("",) * (len(STEPS) - len(with_graph)) + with_graph
    return [census(NET + line, step=step, moment="step-end") for step, line in zip(STEPS, lines, strict=True)]


def kept(run: int, freed: str = "") -> str:
    return TRACKER.format(run=run) + GRAPH.format(run=run, freed=freed)


def test_a_graph_that_two_steps_ends_found_is_carried_until_the_next_evaluation_as_a_hint() -> None:
    (found,) = find_suspects(ends(kept(1), kept(1)))
    finding = check_suspect(found)

    assert (found.symptom, [each.expression for each in found.cut], found.facts["outlasts_a_step"]) == (
        "peak",
        ["tracker.value"],
        True,
    )
    assert finding is not None
    assert (finding.rule, finding.confidence, finding.retained_bytes) == ("TN101", "possible", (1 << 20) + 4)


@pytest.mark.parametrize(
    "lines",
    [
        (kept(1), kept(2)),  # made anew in each step
        (kept(1), ""),  # gone before the end
        ("", kept(1)),  # at the last one alone
        (TRACKER.format(run=1) + "\n",) * 2,  # no graph
    ],
    ids=["made anew", "gone", "at the end alone", "without a graph"],
)
def test_what_passes_or_has_no_graph_is_not(lines: tuple[str, ...]) -> None:
    assert [each for each in find_suspects(ends(*lines)) if each.symptom == "peak"] == []
