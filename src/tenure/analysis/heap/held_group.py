"""Nodes of one census that are held in the same way, the heaviest of them, and the references whose end frees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenure.analysis.heap.cuts import IN_USE, alive_without, find_cut, freed_storages
from tenure.analysis.heap.graph import GRAPH_REFERENCES, PASSING_BY, ancestors, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import Droppable, gradients_with_graph, is_element
from tenure.analysis.heap.library_tables import elements_of_library_tables
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import has_only_scalars, storage_rows
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import SUSPENDED_TYPES


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes of one census that are held in the same way.

    `nodes` are all of them (storages and graph nodes count); `targets` those a cut must free, `many` the containers
    whose elements come and go, `passing` objects that are made anew each step, `parts` modules that other modules
    may go on without. `cut` is filled where it is known; `freed` where only some of the storages that dropping it
    frees should not be there.
    """

    view: View
    nodes: Ints
    targets: Ints
    many: frozenset[int] = frozenset()
    passing: frozenset[int] = frozenset()
    parts: frozenset[int] = frozenset()
    cut: tuple[Droppable, ...] | None = None
    freed: Ints | None = None


def cut_of(group: Group) -> tuple[Droppable, ...]:
    """The references to drop so that all of the group's targets are freed."""
    if group.cut is not None:
        return group.cut
    view, spared = group.view, group.nodes.tolist()
    return find_cut(
        view.graph,
        view.paths,
        group.targets,
        spared=spared,
        many=group.many,
        passing=group.passing,
        parts=group.parts,
    )


def emptied(group: Group) -> tuple[Droppable, ...]:
    """The one container in which the group's members come together, or all tables of hooks that lead to them, where to
    empty it frees all that must go and nothing that is in use; else nothing. What lies below its elements, or has the
    container, is not to blame."""
    graph, containers = group.view.graph, sorted(group.many)
    if group.cut is not None or not containers:
        return ()
    if graph.hook_tables[containers].all():
        above = ancestors(graph, group.targets, without=np.isin(graph.census.references.kind, GRAPH_REFERENCES))
        containers = np.union1d(containers, np.flatnonzero(graph.hook_tables & above)).tolist()
    elif len(containers) > 1:
        return ()
    firsts = ([r for r in graph.references_from(each) if is_element(graph, r)][:1] for each in containers)
    cut = tuple(Droppable(r, each) for each, elements in zip(containers, firsts, strict=True) for r in elements)
    freed = freed_storages(graph, cut)
    storages = group.view.census.storages
    in_use = storages.node[np.isin(storages.role, IN_USE)]
    spoilt = np.setdiff1d(np.intersect1d(freed, in_use), group.nodes)
    wanted = np.intersect1d(group.targets, storages.node)
    return cut if len(wanted) and not len(spoilt) and np.isin(wanted, freed).all() else ()


def out_of_library_tables(view: View, nodes: Ints) -> tuple[Droppable, ...]:
    """The elements of a library's outermost tables that have to go so that `nodes` are freed; none where that is not
    enough."""
    graph, references, hidden = view.graph, view.census.references, elements_of_library_tables(view.graph)
    targets, without = references.target, np.isin(references.kind, PASSING_BY)
    outer = reach(graph, graph.roots, without=hidden)[references.source]
    elements = np.flatnonzero(hidden & outer).tolist()
    cut = tuple(
        Droppable(element) for element in elements if reach(graph, targets[[element]], without=without)[nodes].any()
    )
    return cut if cut and np.isin(nodes, freed_storages(graph, cut)).all() else ()


def gradients_that_free(group: Group) -> tuple[Droppable, ...]:
    """All gradients that carry a graph, where without them none of the group's targets has an owner; else nothing."""
    graph = group.view.graph
    cut = gradients_with_graph(graph)
    return () if alive_without(graph, cut)[group.targets].any() else cut


def belong_together(one: Group, other: Group) -> bool:
    """Two groups with their cuts known are one to a reader: a reference frees both, or variables of one function do."""
    cuts = (*(one.cut or ()), *(other.cut or ()))
    if set(one.cut or ()) & set(other.cut or ()):
        return True
    owners = {_function_of_variable(one.view, dropped) for dropped in cuts}
    return len(owners) == 1 and -1 not in owners


def _function_of_variable(view: View, dropped: Droppable) -> int:
    """The frame, or suspended function, whose local variable a reference is; -1 for any other reference."""
    source = int(view.census.references.source[dropped.reference])
    is_variable = view.census.references.kind[dropped.reference] == ReferenceKind.LOCAL and dropped.container < 0
    is_suspended = view.graph.type_names[source].rpartition(".")[2] in SUSPENDED_TYPES
    return source if is_variable and (is_suspended or view.census.nodes.kind[source] == NodeKind.FRAME) else -1


def heaviest(group: Group, *, by_graph: bool = False) -> int:
    """The storage of most bytes, of several the one with the shortest path.

    A graph node where there is no storage, and where all storages are scalars that keep their graph: then the graph
    is what weighs. With `by_graph`, what graphs save is weighed together: where it is most of the bytes, no single
    large tensor beside the graphs stands for them.
    """
    view = group.view
    rows = storage_rows(view, group.nodes)
    in_graph = group.nodes[view.census.nodes.kind[group.nodes] == NodeKind.AUTOGRAD]
    if len(rows) and not (len(in_graph) and has_only_scalars(view, rows)):
        rows = _mostly_in_graphs(view, rows) if by_graph else rows
        nodes = view.census.storages.node[rows]
        best = np.lexsort((nodes, view.paths.cost[nodes], -view.census.storages.bytes[rows]))
        return int(nodes[best[0]])
    nodes = in_graph if len(in_graph) else group.nodes
    return int(nodes[np.lexsort((nodes, view.paths.cost[nodes]))[0]])


def _mostly_in_graphs(view: View, rows: Ints) -> Ints:
    """The rows of storages that are reached through a graph where those are most of the bytes; else all rows."""
    kinds, sizes = view.census.references.kind, view.census.storages.bytes
    through = np.array(
        [
            bool(np.any(kinds[list(path_to(view.graph, view.paths, node))] == ReferenceKind.GRAD_FN))
            for node in view.census.storages.node[rows].tolist()
        ],
        dtype=bool,
    )
    return rows[through] if 2 * int(sizes[rows[through]].sum()) > int(sizes[rows].sum()) else rows


def without_what_is_in_use(view: View, nodes: Ints, members: Ints) -> Ints:
    """`nodes` less the parameters, gradients, optimizer state and inputs that live on without `members` or any graph.

    The nearest path to a weight may lead through a graph that saved it: the graph uses it, it does not keep it.
    """
    rows = storage_rows(view, nodes)
    used = view.census.storages.node[rows][view.census.storages.role[rows] <= Role.INPUT]
    if not len(used):
        return nodes
    references = view.census.references
    not_followed = np.isin(references.kind, GRAPH_REFERENCES) | np.isin(references.target, members)
    roots = np.setdiff1d(view.graph.roots, members)
    alive = reach(view.graph, roots, without=not_followed)
    return np.setdiff1d(nodes, used[alive[used]])
