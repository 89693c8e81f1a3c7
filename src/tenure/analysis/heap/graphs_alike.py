"""The graphs of one census, and those of them that are made of the same operations and have nothing in common but what
adds them up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tenure.analysis.heap.graph import Graph
from tenure.model.heap import NodeKind, ReferenceKind

_LEAF = "AccumulateGrad"
_FACTORS = ("MulBackward", "DivBackward")
_SUMS = (
    *_FACTORS,
    "AddBackward",
    "SubBackward",
    "NegBackward",
    "SumBackward",
    "MeanBackward",
    "StackBackward",
    "CatBackward",
    "UnsqueezeBackward",
    "SqueezeBackward",
    "ViewBackward",
    "ToCopyBackward",
)


def find_graphs_alike(graph: Graph) -> list[list[int]]:
    """Autograd nodes by the graph that they are part of: of all that consist of as many nodes of the same names those
    in which most nodes are. Leaves are in none, nor are the sums above them. Costs a walk of all graphs."""
    by_names: dict[frozenset[tuple[str, int]], list[list[int]]] = {}
    for nodes in _parts(graph):
        names = Counter(graph.type_names[node] for node in nodes)
        by_names.setdefault(frozenset(names.items()), []).append(nodes)
    return max(by_names.values(), key=lambda alike: (len(alike) > 1, sum(map(len, alike))), default=[])


def find_graphs(graph: Graph) -> list[list[int]]:
    """Autograd nodes by the graph that they are part of, leaves left out. Costs a walk of all graphs."""
    return _joined(*_inner_nodes(graph))


def _inner_nodes(graph: Graph) -> tuple[set[int], list[tuple[int, int]]]:
    """Autograd nodes that are no leaves, and which lead to which."""
    nodes, references, names = graph.census.nodes, graph.census.references, graph.type_names
    inner = {n for n in np.flatnonzero(nodes.kind == NodeKind.AUTOGRAD).tolist() if not names[n].startswith(_LEAF)}
    is_next = references.kind == ReferenceKind.NEXT
    pairs = zip(references.source[is_next].tolist(), references.target[is_next].tolist(), strict=True)
    return inner, [(source, target) for source, target in pairs if source in inner and target in inner]


def _parts(graph: Graph) -> list[list[int]]:
    """Autograd nodes by the graph that they are part of, sums of graphs and leaves left out."""
    inner, edges = _inner_nodes(graph)
    names = graph.type_names
    below: dict[int, list[int]] = {}
    for source, target in edges:
        below.setdefault(source, []).append(target)
    sums = _sums_at_top(inner, below, names, {target for _, target in edges})
    return _joined(inner - sums, [edge for edge in edges if sums.isdisjoint(edge)])


def _sums_at_top(
    inner: Iterable[int], below: dict[int, list[int]], names: Sequence[str], has_above: Collection[int]
) -> set[int]:
    """The nodes that only sums lead to and that are sums themselves, of which no product of two graphs is one."""
    waiting, found = [node for node in inner if node not in has_above], set()
    while waiting:
        node = waiting.pop()
        is_product = names[node].startswith(_FACTORS) and len(below.get(node, ())) > 1
        if node in found or not names[node].startswith(_SUMS) or is_product:
            continue
        found.add(node)
        waiting += below.get(node, ())
    return found


def _joined(nodes: Iterable[int], edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Nodes by what edges join."""
    part = {node: node for node in nodes}

    def top(node: int) -> int:
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node

    for one, other in edges:
        part[top(one)] = top(other)
    found: dict[int, list[int]] = {}
    for node in part:
        found.setdefault(top(node), []).append(node)
    return list(found.values())
