"""Whether what collects leads to ever more optimizers, and nothing but these keeps what they trained."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.cuts import alive_seeds
from tenure.analysis.heap.graph import GRAPH_REFERENCES, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.optimizers import optimizer_nodes
from tenure.analysis.heap.storage_facts import storage_rows
from tenure.model.heap import Ints, ReferenceKind

ONLY_IN_OPTIMIZERS = "only_in_optimizers"
"""Name of the fact: how many optimizers there are."""
MOSTLY = 0.8
"""Share of the bytes from which the optimizers are what keeps them, and not what else an element has."""
_USING = (*GRAPH_REFERENCES, ReferenceKind.HOOK)


def optimizer_facts(view: View, members: Ints, nodes: Ints) -> dict[str, object]:
    """`only_in_optimizers`: how many optimizers the `members` lead to, by schedulers or records too, where these
    alone keep most bytes of `nodes`: the modules that they trained are gone, or what they keep is their own state.

    Costs two searches of the census where there are several optimizers.
    """
    graph, references = view.graph, view.census.references
    known = optimizer_nodes(graph)
    if len(known) < 2 or not len(storage_rows(view, nodes)):
        return {}
    below = reach(graph, members, without=np.isin(references.kind, _USING))
    optimizers = [node for node in known if below[node]]
    if len(optimizers) < 2:
        return {}
    elsewhere = reach(graph, alive_seeds(graph), without=np.isin(references.target, optimizers))
    sizes = graph.bytes_of_node[nodes]
    mine = int(sizes[~elsewhere[nodes]].sum())
    return {ONLY_IN_OPTIMIZERS: len(optimizers)} if mine >= MOSTLY * int(sizes.sum()) > 0 else {}
