"""What autograd graphs save for a backward pass, and nothing else holds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, reach
from tenure.analysis.heap.graphs_alike import find_graphs
from tenure.analysis.heap.groups import View
from tenure.model.heap import BUFFERS_FREED, Ints, NodeKind, ReferenceKind


def saved_by_graphs_alone(view: View) -> Ints:
    """Storages that nodes whose buffers are not freed have saved, and that live by graphs alone."""
    graph, nodes = view.graph, view.census.nodes
    saved = _saved_by(view, np.flatnonzero((nodes.kind == NodeKind.AUTOGRAD) & ((nodes.flags & BUFFERS_FREED) == 0)))
    held = reach(graph, graph.roots, without=np.isin(view.census.references.kind, GRAPH_REFERENCES))
    return saved[~held[saved]]


def saved_by_each_graph(view: View) -> Iterator[Ints]:
    """The same of one graph after the other, of those that no backward pass has begun to free; several may have saved
    the same."""
    alone, flags = saved_by_graphs_alone(view), view.census.nodes.flags
    for nodes in find_graphs(view.graph):
        graph = np.array(nodes, dtype=np.int64)
        if not np.any(flags[graph] & BUFFERS_FREED):
            yield np.intersect1d(_saved_by(view, graph), alone)


def _saved_by(view: View, nodes: Ints) -> Ints:
    """Storages that these nodes have saved."""
    references, storages = view.census.references, view.census.storages.node
    saved = (references.kind == ReferenceKind.SAVED) & np.isin(references.source, nodes)
    tensors = np.unique(references.target[saved])
    reached = reach(view.graph, tensors, without=references.kind != ReferenceKind.STORAGE)
    return storages[reached[storages]]
