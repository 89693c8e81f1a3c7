"""Graphs that two containers keep: two parts of a loss lead to the same forward, and neither alone lets it go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.heap.cuts import alive_without, removed_by
from tenure.analysis.heap.graph import GRAPH_REFERENCES, ancestors
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import Droppable, is_element
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import expression
from tenure.model.heap import Ints, NodeKind, ReferenceKind

LEAST_SHARE = 0.5
"""Of the nodes that were to go. The newest step's are mostly in use."""


def also_kept_by(view: View, nodes: Ints, cut: Sequence[Droppable]) -> str:
    """What else keeps most of some graph nodes when a cut is dropped, as an expression of what most of the tensors that
    lead to them are reached by; "" where they go. Costs two searches of the census."""
    graph, references = view.graph, view.census.references
    still = alive_without(graph, cut)
    left = nodes[still[nodes]]
    if not len(nodes) or len(left) < LEAST_SHARE * len(nodes):
        return ""
    removed = removed_by(graph, cut)
    within = ~np.isin(references.kind, (ReferenceKind.NEXT, ReferenceKind.GRAD_FN))
    above = ancestors(graph, left, without=within | removed) & still
    tensors = np.flatnonzero(above & (view.census.nodes.kind == NodeKind.TENSOR)).tolist()
    by_name: dict[str, int] = {}
    for tensor in tensors:
        path = path_to(graph, view.paths, tensor)
        if path and not removed[list(path)].any() and not np.isin(references.kind[list(path)], GRAPH_REFERENCES).any():
            name = f"{expression(graph, path[:-1])}[*]" if is_element(graph, path[-1]) else expression(graph, path)
            by_name[name] = by_name.get(name, 0) + 1
    return max(sorted(by_name), key=lambda name: by_name[name], default="")
