from __future__ import annotations

import numpy as np

from heaps import census
from tenure.analysis.heap.chain_entries import chain_entries
from tenure.analysis.heap.groups import Shapes, view_census
from tenure.model.heap import NodeKind

CHAIN = """\
main(train.py:9).smoothed -> tensor#newest 4B -> .grad_fn AddBackward0#3 -> .next AddBackward0#2 -> .next AddBackward0#1
Trainer.fit(fit.py:4).tracker -> t.Tracker#tracker -> .value tensor#newest
Trainer.fit(fit.py:4).tracker -> t.Tracker#tracker -> .best tensor 4B -> .grad_fn AddBackward0#2
Trainer.fit(fit.py:4).tracker -> t.Tracker#tracker -> .first tensor 4B -> .grad_fn AddBackward0#1
main(train.py:9).loss -> tensor 4B -> .grad_fn MeanBackward0
"""


def names(text: str) -> set[str]:
    view = view_census(census(text, step=1), Shapes())
    nodes = np.flatnonzero(view.census.nodes.kind == NodeKind.AUTOGRAD)
    chained = np.array([n for n in nodes.tolist() if view.graph.type_names[n].startswith("Add")])
    return {each.expression for each in chain_entries(view, chained)}


def test_all_names_of_tensors_that_lead_to_most_of_a_chain_are_told_and_no_others() -> None:
    assert names(CHAIN) == {"smoothed", "tracker.value", "tracker.best"}


def test_what_saves_a_tensor_of_the_chain_leads_to_it_by_its_own_name_alone() -> None:
    saved = CHAIN + "main(train.py:9).out -> tensor 4B -> .grad_fn MulBackward0 -> .saved tensor#newest\n"

    assert names(saved) == {*names(CHAIN), "out"}


def test_a_tuple_that_has_the_tensor_is_no_name_of_it() -> None:
    both = (
        "main(train.py:9).state -> tuple -> [0] tensor#newest\nmain(train.py:9).table -> dict -> ['h'] tensor#newest\n"
    )

    assert names(CHAIN + both) == names(CHAIN)


def test_a_closures_variable_is_one() -> None:
    kept = "main(train.py:9).update -> function file=track.py:3 name=update -> <cell level> tensor#newest\n"

    assert names(CHAIN + kept) == {*names(CHAIN), "level"}
