from __future__ import annotations

import pytest

from heaps import growing
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import ALSO_KEPT_BY

STEPS = (1, 2, 3, 4, 6, 8, 12)
LOG = "main.log -> __main__.Log -> .{name} list#{name} -> [*{{n}}] tensor#{name}* 4B -> .grad_fn {node}#{name}node*"
SHARED = " -> .next Net#net* -> .next AddmmBackward0#fc*\n"
CE, AUX = LOG.format(name="ce", node="NllLossBackward0"), LOG.format(name="aux", node="MeanBackward0")


def told(text: str) -> dict[str, object]:
    """What grows, with what else keeps its graphs."""
    found = find_suspects(growing(text, STEPS, n=lambda step: step))
    return {suspect.holder.expression: suspect.facts.get(ALSO_KEPT_BY) for suspect in found if suspect.through_graph}


def test_two_lists_of_parts_of_one_loss_keep_its_graph_together() -> None:
    assert told(CE + SHARED + AUX + SHARED) == {"log.ce[*]": "log.aux[*]", "log.aux[*]": None}


@pytest.mark.parametrize("beside", ["", AUX + "\n", AUX + SHARED.replace("#net*", "#own*").replace("#fc*", "#ownfc*")])
def test_a_list_that_keeps_its_graphs_alone_is_told_alone(beside: str) -> None:
    assert set(told(CE + SHARED + beside).values()) == {None}


def test_a_variable_for_the_newest_step_keeps_one_graph_of_many() -> None:
    newest = "train(t.py:9).loss tensor#loss 4B -> .grad_fn AddBackward0 -> .next Net#net0\n"

    assert told(CE + SHARED + newest)["log.ce[*]"] is None
