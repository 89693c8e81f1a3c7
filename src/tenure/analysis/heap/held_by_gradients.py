"""Graphs that hang on gradients, and for the moment on variables of functions that run as well."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.cuts import alive_seeds, removed_by
from tenure.analysis.heap.graph import Bools, Graph, of_types, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import gradients_with_graph
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import Ints, NodeKind, ReferenceKind

MOSTLY = 0.9
"""Share of the bytes that gradients have to hold by themselves."""
_PLAIN = ("tuple", "list", "dict")


def path_by_gradient(view: View, nodes: Ints, path: tuple[int, ...]) -> tuple[int, ...]:
    """The path to where `path` ends, but through a gradient where it enters a graph by a variable; () where gradients
    do not hold `nodes`.

    They do where most of their bytes are alive without any result in a variable or an argument, and none of these
    without the gradients: what a step has just computed from a gradient leads to its graph, too, but goes at its end.
    Costs two searches of the census where there are such gradients.
    """
    graph, kinds = view.graph, view.census.references.kind
    enters = next((at for at, reference in enumerate(path) if kinds[reference] == ReferenceKind.GRAD_FN), 0)
    gradients = gradients_with_graph(graph) if enters and kinds[path[enters - 1]] == ReferenceKind.LOCAL else ()
    if not gradients:
        return ()
    seeds, variables = alive_seeds(graph), _variables(graph)
    seeds = seeds[~_plain(graph)[seeds]]
    by_gradients = reach(graph, seeds, without=variables)[nodes]
    by_others = reach(graph, seeds, without=variables | removed_by(graph, gradients))[nodes]
    sizes = graph.bytes_of_node[nodes]
    if not sizes.sum() or int(sizes[by_gradients & ~by_others].sum()) < MOSTLY * int(sizes.sum()):
        return ()
    for each in gradients:
        owner, gradient = (int(ends[each.reference]) for ends in _ends(graph))
        inside = _shortest(graph, gradient, int(_ends(graph)[1][path[-1]]))
        if inside and view.paths.held_by_root(owner):
            return (*path_to(graph, view.paths, owner), each.reference, *inside)
    return ()


def _ends(graph: Graph) -> tuple[Ints, Ints]:
    return graph.census.references.source, graph.census.references.target


def _variables(graph: Graph) -> Bools:
    """Per reference: a variable of a function is by it a tensor that carries a graph, or a tuple, list or dict, as
    arguments are; all variables of a library's function that runs, which hands arguments on in whatever it likes."""
    sources, targets = _ends(graph)
    kinds = graph.census.nodes.kind
    given = (kinds[sources] == NodeKind.FRAME) & graph.library[sources]
    carry = sources[graph.census.references.kind == ReferenceKind.GRAD_FN]
    is_value = np.isin(np.arange(graph.size), carry) | _plain(graph)
    is_local = graph.census.references.kind == ReferenceKind.LOCAL
    return np.asarray(is_local & (is_value[targets] | given), dtype=bool)


def _plain(graph: Graph) -> Bools:
    """Per node: a tuple, list or dict; one with an unseen owner is what a running call was given."""
    return of_types(graph, _PLAIN.__contains__)


def _shortest(graph: Graph, start: int, node: int) -> tuple[int, ...]:
    """The fewest references that lead from one node to another; () where none do."""
    sources, targets = _ends(graph)
    came_by, turn = {start: -1}, [start]
    while turn and node not in came_by:
        found = [reference for each in turn for reference in graph.references_from(each)]
        turn = []
        for reference in found:
            target = int(targets[reference])
            if target not in came_by:
                came_by[target] = reference
                turn.append(target)
    way: list[int] = []
    reference = came_by.get(node, -1)
    while reference >= 0:
        way.append(reference)
        reference = came_by[int(sources[reference])]
    return tuple(reversed(way))
