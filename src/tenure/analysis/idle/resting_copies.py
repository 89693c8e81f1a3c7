"""Copies of a module that no operation of the profiled steps touched, beside the module itself, which is in use."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tenure.analysis.heap.graph import reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.modules import all_below, children_of_modules
from tenure.analysis.heap.optimizers import optimizer_nodes
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import Ints, NodeKind, Role


def find_resting_copies(view: View, resting: Ints) -> dict[int, Ints]:
    """Storages by the reference that leads to the copy that has them, where all of its parameters and buffers are
    `resting` and another module of its type, with tensors of the same sizes, has none that are.

    What an optimizer leads to is none; a copy that is averaged into, or called, in every step is touched. Costs a
    search of the census where there are two modules of a type.
    """
    graph = view.graph
    tops = _outermost(view)
    several = [node for node in tops if sum(graph.type_names[node] == graph.type_names[other] for other in tops) > 1]
    if not several:
        return {}
    stepped = reach(graph, np.array(sorted(optimizer_nodes(graph)), dtype=np.int64))
    own = {node: _weights(view, tops[node]) for node in several}
    found = {}
    for node in several:
        rests = len(own[node]) and np.isin(own[node], resting).all() and not stepped[own[node]].any()
        if rests and any(_is_used_like(view, own, node, other, resting) for other in several):
            path = path_to(graph, view.paths, node)
            found.update({path[-1]: own[node]} if path else {})
    return found


def _outermost(view: View) -> dict[int, set[int]]:
    """Modules that are in no other, with all that are inside of each."""
    children = children_of_modules(view.graph)
    inside = {child for below in children.values() for child in below}
    return {node: all_below(children, node) for node in children if node not in inside and view.paths.reached(node)}


def _weights(view: View, modules: set[int]) -> Ints:
    """Storages of parameters and buffers that the modules' own tables lead to."""
    graph, storages = view.graph, view.census.storages
    kinds, targets = view.census.nodes.kind, view.census.references.target
    weights = set(storages.node[np.isin(storages.role, (Role.PARAMETER, Role.BUFFER))].tolist())
    turn, tensors = list(modules), set()
    for _ in range(3):  # the module's table, its parameters', the tensor
        turn = [int(targets[r]) for node in turn for r in graph.references_from(node)]
        tensors |= {node for node in turn if kinds[node] == NodeKind.TENSOR}
    held = {int(targets[r]) for node in tensors for r in graph.references_from(node)}
    return np.array(sorted(held & weights), dtype=np.int64)


def _is_used_like(view: View, own: dict[int, Ints], node: int, other: int, resting: Ints) -> bool:
    graph = view.graph
    if node == other or graph.type_names[node] != graph.type_names[other] or np.isin(own[other], resting).any():
        return False
    sizes = (Counter(graph.bytes_of_node[own[each]].tolist()) for each in (node, other))
    return next(sizes) == next(sizes)
