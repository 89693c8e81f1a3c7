"""Chains of graphs that several names lead into: the shortest path to a node takes now one of them and now another.

`best = smoothed` where a loss has fallen: what lies behind `best` is counted there until `smoothed` has gone on so far
that the next best one takes over, and by no name does the graph seem to grow. All of it is counted by the names of
newest tensors here, behind which all others lie.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tenure.analysis.growth.growing import find_growing, find_growing_out_of_sight
from tenure.analysis.growth.trend import find_trend
from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, Graph
from tenure.analysis.heap.groups import Shapes, View, view_without
from tenure.model.heap import NodeKind, ReferenceKind
from tenure.model.suspect import Suspect

_Name = tuple[str, str]
"""Type of what refers to a tensor, and by which label."""
MOST_OF_IT = 0.5
"""Where suspects account for so much of the nodes gained, nothing is looked for."""


def find_shared_chains(views: Sequence[View], *, told: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """Growth of graphs over the censuses of one moment that none of those `told` account for.

    Costs a count, and where nodes grow unexplained another search of each census.
    """
    counts = [_num_nodes(view) for view in views]
    known = sum(suspect.num_graph_nodes for suspect in told)
    if not counts or known >= MOST_OF_IT * (max(counts) - counts[0]):
        return ()
    if find_trend([view.census.step for view in views], counts).kind != "growing":
        return ()
    shapes = Shapes()
    middles = [_into_the_middle(view.graph) for view in views]
    lagging = set().union(*(_names(view.graph, middle) for view, middle in zip(views, middles, strict=True)))
    by_newest = [
        view_without(view, middle | _also_named_otherwise(view.graph, lagging), shapes)
        for view, middle in zip(views, middles, strict=True)
    ]
    growing, grown = find_growing(by_newest, shapes)
    beyond, _ = find_growing_out_of_sight(by_newest, shapes, told=grown)
    return tuple(suspect for suspect in (*growing, *beyond) if suspect.through_graph)


def _num_nodes(view: View) -> int:
    return int(np.count_nonzero(view.census.nodes.kind == NodeKind.AUTOGRAD))


def _into_the_middle(graph: Graph) -> Bools:
    """Per reference: a tensor's to its node, where a later node of a graph leads to it as well."""
    references = graph.census.references
    inside = np.zeros(graph.size, dtype=bool)
    inside[references.target[references.kind == ReferenceKind.NEXT]] = True
    return np.asarray((references.kind == ReferenceKind.GRAD_FN) & inside[references.target], dtype=bool)


def _names(graph: Graph, middle: Bools) -> set[_Name]:
    """What refers to the tensors that lead into the middle of a graph."""
    tensors = np.unique(graph.census.references.source[middle]).tolist()
    return {_name(graph, reference) for tensor in tensors for reference in _named(graph, tensor)}


def _also_named_otherwise(graph: Graph, lagging: Collection[_Name]) -> Bools:
    """Per reference: one by a name that is `lagging` in some census, to a tensor that has another name: here the best
    average is the newest."""
    references = graph.census.references
    found = np.zeros(len(references.kind), dtype=bool)
    if not lagging:
        return found
    for tensor in np.unique(references.source[references.kind == ReferenceKind.GRAD_FN]).tolist():
        names = _named(graph, tensor)
        late = [reference for reference in names if _name(graph, reference) in lagging]
        if len(late) < len(names):
            found[late] = True
    return found


def _named(graph: Graph, tensor: int) -> list[int]:
    kinds = graph.census.references.kind
    return [reference for reference in graph.references_to(tensor) if kinds[reference] not in GRAPH_REFERENCES]


def _name(graph: Graph, reference: int) -> _Name:
    return graph.type_names[int(graph.census.references.source[reference])], graph.labels[reference]
