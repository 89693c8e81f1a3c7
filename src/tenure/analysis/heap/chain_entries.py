"""The names by which tensors lead into a graph that grows from step to step: one of them is carried on, others show it.

`smoothed = tracker.update(loss)` is a variable for what the tracker keeps and goes on with: to detach the variable
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, ancestors, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import find_droppable, holding_reference, innermost_droppable
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import Ints, NodeKind, ReferenceKind
from tenure.model.suspect import HoldingReference

MOST_NAMES = 8
MOST_TENSORS = 32
"""So many are looked at, those with the nearest names first."""
MOST_OF_IT = 0.5
"""Of the graph's nodes a tensor must lead to so many: the newest loss leads to its own step's alone."""


def chain_entries(view: View, graph_nodes: Ints) -> tuple[HoldingReference, ...]:
    """Names of tensors that lead to most of the `graph_nodes`, nearest first, without what keeps them in a graph, and
    without names of tuples and lists that have them.

    Costs one search of the census, and one of the graph for each tensor.
    """
    graph, references = view.graph, view.census.references
    outside = ~np.isin(references.kind, GRAPH_REFERENCES)
    leads_there = ancestors(graph, graph_nodes, without=outside)
    tensors = np.flatnonzero(leads_there & (view.census.nodes.kind == NodeKind.TENSOR))
    nearest = tensors[np.argsort(view.paths.cost[tensors], kind="stable")][:MOST_TENSORS]
    named = find_droppable(graph) & graph.user_made
    found: list[HoldingReference] = []
    for tensor in nearest.tolist():
        below = reach(graph, np.array([tensor]), without=outside)
        if below[graph_nodes].sum() >= MOST_OF_IT * len(graph_nodes):
            found.extend(_names_of(view, tensor, named))
    return tuple(dict.fromkeys(found))[:MOST_NAMES]


def _names_of(view: View, tensor: int, named: Bools) -> Iterator[HoldingReference]:
    graph, references = view.graph, view.census.references
    for last in graph.references_to(tensor):
        source = int(references.source[last])
        if references.kind[last] in (*GRAPH_REFERENCES, ReferenceKind.BASE) or not view.paths.reached(source):
            continue
        held_by = innermost_droppable(graph, named, (*path_to(graph, view.paths, source), last), ())
        of_itself = held_by.reference == last or references.kind[last] == ReferenceKind.CONTENTS
        if named[held_by.reference] and of_itself:
            yield holding_reference(graph, view.paths, held_by)
