"""Retention paths: for every node, the cheapest chain of references from a root, the user's own names first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph, gather, held_unseen, of_types
from tenure.analysis.heap.loops import exits, iterators
from tenure.model.heap import NAMED_BY_LIBRARY, Ints, NodeKind, ReferenceKind

LIBRARY_COST = 24
"""Extra cost of a reference made inside torch or an installed package: taken only where no user name leads on."""
KEY_COST = 24
"""Extra cost of being the key of a dict, as parameters are of an optimizer's state: no name anybody knows them by."""
LEAF_COST = 400
"""Extra cost of going from a graph to the parameter that it trains: the graph uses it, modules own it."""
UNSEEN_COST = 4000
"""Cost of starting at a node that only something outside of the census holds."""

CONTEXTS = ("Context", "_contextvars.Context")
"""Types of what a thread or task keeps its context variables in."""

_COSTS = {
    ReferenceKind.DICT: 1,
    ReferenceKind.CONTENTS: 1,
    ReferenceKind.STORAGE: 1,
    ReferenceKind.SELF: 1,
    ReferenceKind.MEMBER: 3,
    ReferenceKind.GRAD_FN: 4,
    ReferenceKind.NEXT: 4,
    ReferenceKind.SAVED: 4,
    ReferenceKind.BASE: 4,
    ReferenceKind.GRAD: 6,
    ReferenceKind.HOOK: 6,
    ReferenceKind.NATIVE: 1000,
    ReferenceKind.OTHER: 6,
}
_NEUTRAL = (
    ReferenceKind.DICT,
    ReferenceKind.CONTENTS,
    ReferenceKind.STORAGE,
    ReferenceKind.BASE,
    ReferenceKind.GRAD_FN,
    ReferenceKind.NEXT,
    ReferenceKind.SAVED,
    ReferenceKind.GRAD,
)
_ROOT_COSTS = {
    NodeKind.FRAME: (0, 40),
    NodeKind.NAMESPACE: (0, 80),
    NodeKind.CLASS: (4, 80),
    NodeKind.HIDDEN: (60, 60),
}
_FAR = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Paths:
    """Per node: the reference it is best reached by (-1: a root, a node held unseen, or not reached at all) and
    what the whole path costs; `order` lists the reached nodes, nearest first."""

    parent: Ints
    cost: Ints
    order: Ints

    def reached(self, node: int) -> bool:
        """Whether anything that is alive leads to `node`."""
        return bool(self.cost[node] < _FAR)

    def held_by_root(self, node: int) -> bool:
        """Whether a root leads to `node`, not only an owner that the census cannot see."""
        return bool(self.cost[node] < UNSEEN_COST)


def shortest_paths(graph: Graph, *, without: Bools | None = None) -> Paths:
    """One search from all roots at once; equal costs are decided by label and number, so results repeat. References
    marked in `without` are not followed.

    Costs are whole numbers of at least 1 per reference, so that all nodes of one cost are settled together.
    """
    costs = reference_costs(graph)
    if without is not None:
        costs[without] = _FAR
    rank = _label_rank(graph)
    target = graph.census.references.target
    distance = np.full(graph.size, _FAR, dtype=np.int64)
    parent = np.full(graph.size, -1, dtype=np.int64)
    buckets: dict[int, list[Ints]] = {}
    for cost, nodes in _starts(graph):
        nodes = nodes[distance[nodes] > cost]
        distance[nodes] = cost
        buckets.setdefault(cost, []).append(nodes)
    waiting = list(buckets)
    heapq.heapify(waiting)
    order: list[Ints] = []
    while waiting:
        cost = heapq.heappop(waiting)
        nodes = np.unique(np.concatenate(buckets.pop(cost)))
        nodes = nodes[distance[nodes] == cost]
        order.append(nodes)
        found = gather(graph.out, graph.out_start, nodes)
        if len(found) == 0:
            continue
        reached_at = cost + costs[found]
        better = reached_at < distance[target[found]]
        found, reached_at = found[better], reached_at[better]
        best = np.lexsort((found, rank[found], reached_at, target[found]))
        found, reached_at = found[best], reached_at[best]
        first = np.ones(len(found), dtype=bool)
        first[1:] = target[found[1:]] != target[found[:-1]]
        found, reached_at = found[first], reached_at[first]
        distance[target[found]] = reached_at
        parent[target[found]] = found
        for step in np.unique(reached_at).tolist():
            if step not in buckets:
                buckets[step] = []
                heapq.heappush(waiting, step)
            buckets[step].append(target[found[reached_at == step]])
    return Paths(parent, distance, np.concatenate(order) if order else np.empty(0, dtype=np.int64))


def path_to(graph: Graph, paths: Paths, node: int) -> tuple[int, ...]:
    """The references from a root to `node`, root first."""
    found: list[int] = []
    source = graph.census.references.source
    reference = int(paths.parent[node])
    while reference >= 0:
        found.append(reference)
        reference = int(paths.parent[source[reference]])
    return tuple(reversed(found))


def reference_costs(graph: Graph) -> Ints:
    """Cost of every reference: what a person would call near is cheap, library internals are dear."""
    references = graph.census.references
    by_kind = np.array([_COSTS.get(kind, 2) for kind in ReferenceKind], dtype=np.int64)
    costs = by_kind[references.kind]
    inside = graph.library[references.source] & ~np.isin(references.kind, _NEUTRAL)
    inside &= ~np.isin(graph.census.nodes.kind[references.source], tuple(_ROOT_COSTS))
    to_leaf = (references.kind == ReferenceKind.NEXT) & np.isin(references.label, _positions(graph, "variable"))
    as_key = (references.kind == ReferenceKind.MEMBER) & np.isin(references.label, _positions(graph, "key"))
    dearer = LIBRARY_COST * inside + LEAF_COST * to_leaf + KEY_COST * as_key
    return np.asarray(costs + dearer, dtype=np.int64)


def _positions(graph: Graph, text: str) -> list[int]:
    return [at for at, each in enumerate(graph.census.strings) if each == text]


def _starts(graph: Graph) -> list[tuple[int, Ints]]:
    nodes = graph.census.nodes
    in_library = (nodes.flags & NAMED_BY_LIBRARY) != 0
    starts = []
    for kind, (user_cost, library_cost) in _ROOT_COSTS.items():
        of_kind = nodes.kind == kind
        starts.append((user_cost, np.flatnonzero(of_kind & ~in_library)))
        starts.append((library_cost, np.flatnonzero(of_kind & in_library)))
    unseen = held_unseen(graph)
    known = unseen & (_is_context(graph) | iterators(graph) | exits(graph))
    starts.append((_ROOT_COSTS[NodeKind.HIDDEN][0], np.flatnonzero(known)))
    starts.append((UNSEEN_COST, np.flatnonzero(unseen & ~known)))
    return sorted(starts, key=lambda start: start[0])


def _is_context(graph: Graph) -> Bools:
    """Per node: a `contextvars.Context`; one that nothing refers to is that of a running thread or task."""
    of_type = of_types(graph, CONTEXTS.__contains__)
    return np.asarray((graph.census.nodes.kind == NodeKind.OBJECT) & of_type, dtype=bool)


def _label_rank(graph: Graph) -> Ints:
    strings = graph.census.strings
    rank = np.zeros(len(strings) + 1, dtype=np.int64)
    rank[sorted(range(len(strings)), key=strings.__getitem__)] = np.arange(len(strings))
    return rank[graph.census.references.label]
