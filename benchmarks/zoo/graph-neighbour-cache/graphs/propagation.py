"""The normalised adjacency of a graph, made once and gone when the graph goes."""

from __future__ import annotations

import weakref

import torch

from .subgraph import Subgraph


class Propagation:
    def __init__(self, graph: Subgraph) -> None:
        self.graph = graph
        dense = torch.eye(len(graph))
        dense[graph.edges[0], graph.edges[1]] = 1.0
        self.matrix = dense / dense.sum(1, keepdim=True)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if len(x) != len(self.graph):
            raise ValueError(f"{len(x)} rows for a graph of {len(self.graph)} nodes")
        return self.matrix @ x


_KNOWN: weakref.WeakKeyDictionary[Subgraph, Propagation] = weakref.WeakKeyDictionary()
make = Propagation


def propagation(graph: Subgraph) -> Propagation:
    if graph not in _KNOWN:
        _KNOWN[graph] = make(graph)
    return _KNOWN[graph]
