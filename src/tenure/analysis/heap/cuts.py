"""What to drop so that memory is freed: the smallest set of references, and of several the nearest to the memory.

One alias is never the whole answer. A cut frees all of its targets and keeps what the program uses again:
references whose owner leads to parameters, buffers, optimizer state or the inputs of a running call are not touched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sized
from dataclasses import dataclass, field

import numpy as np

from tenure.analysis.heap.graph import (
    ELEMENT_REFERENCES,
    GRAPH_REFERENCES,
    Bools,
    Graph,
    ancestors,
    gather,
    held_unseen,
    reach,
)
from tenure.analysis.heap.holders import Droppable, find_droppable
from tenure.analysis.heap.library_tables import elements_of_library_tables
from tenure.analysis.heap.modules import module_nodes, references_to_submodules
from tenure.analysis.heap.paths import Paths
from tenure.analysis.heap.wording import LARGE_CONTAINER
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role

MOST_BY_NAME = 3
"""References of a cut that a person would drop one by one."""
LARGEST_CUT = 24
"""More references than this are no advice; the search gives up."""
_INFINITE = 1 << 30
IN_USE = (Role.PARAMETER, Role.BUFFER, Role.OPTIMIZER_STATE, Role.INPUT)
"""Roles of memory that the program goes on using."""


def find_cut(
    graph: Graph,
    paths: Paths,
    targets: Ints,
    *,
    spared: Collection[int] = (),
    many: Collection[int] = (),
    passing: Collection[int] = (),
    parts: Collection[int] = (),
) -> tuple[Droppable, ...]:
    """References whose removal leaves every target without an owner; empty where no such set can be named.

    `targets` are node numbers. `spared` are further nodes that may be freed with them (storages of the same
    finding). A container in `many` counts as one reference for all of its elements. What objects in `passing` refer
    to is left to them where that is possible with no more references: they are made anew each step, and a person
    drops the variable; of one that waits in a queue as well, what it need not have.
    Modules in `parts` may be taken out of the modules that have them, and out of a library's tables, which are dropped
    whole otherwise.
    References made by the user are tried first, then those made in libraries. Costs one search of the targets'
    ancestry per reference found.
    """
    in_use = _nodes_in_use(graph, targets, spared)
    leads_to_use = ancestors(graph, in_use, without=np.isin(graph.census.references.kind, _PASSING))
    kept_alive = _on_paths(graph, paths, in_use)
    forbidden = leads_to_use[graph.census.references.target]
    to_modules = _to_modules_in_use(graph, in_use)
    containers = many_containers(graph, many)
    noted = _noted_by_libraries(graph, parts)
    droppable = find_droppable(graph) | references_to_submodules(graph, parts) | noted
    by_attribute = (graph.user_made | noted) & ~forbidden
    by_variable = by_attribute & ~np.isin(graph.census.references.source, np.array(sorted(passing), dtype=np.int64))
    if passing and _is_smaller(
        _smallest_cut(graph, targets, droppable & by_attribute, containers, by_attribute),
        than=_smallest_cut(graph, targets, droppable & by_variable, containers, by_variable),
    ):
        by_variable = by_attribute
    for allowed, can_drop in (
        (by_variable, droppable),
        (by_attribute, droppable),
        (by_attribute, droppable | _items(graph)),
        (~forbidden, droppable),
        (graph.user_made & ~kept_alive & ~to_modules, droppable),
        (~kept_alive & ~to_modules, droppable),
        (graph.user_made & ~kept_alive, droppable),
        (~kept_alive, droppable),
    ):
        cut = _smallest_cut(graph, targets, can_drop & allowed, containers, allowed)
        if len(cut) > MOST_BY_NAME:
            return _emptied(graph, targets, droppable, graph.user_made & ~kept_alive, many) or cut
        if len(cut) and forbidden[[dropped.reference for dropped in cut]].any():
            by_name = np.zeros_like(droppable)
            return _emptied(graph, targets, by_name, graph.user_made & ~kept_alive, many, most=len(many)) or cut
        if cut:
            return cut
    return ()


def _noted_by_libraries(graph: Graph, parts: Collection[int]) -> Bools:
    """Per reference: by it a library's table has one of these modules."""
    if not parts:
        return np.zeros(len(graph.census.references.kind), dtype=bool)
    return elements_of_library_tables(graph) & np.isin(graph.census.references.target, sorted(parts))


def _is_smaller(cut: Sized, *, than: Sized) -> bool:
    return 0 < len(cut) < len(than)


def _emptied(
    graph: Graph, targets: Ints, droppable: Bools, allowed: Bools, many: Collection[int], *, most: int = 1
) -> tuple[Droppable, ...]:
    """The one container of many that keeps all targets, where there is one, or at `most` so many: their elements may
    lead to memory in use that lives by other names, as every hook's closure over its owner does."""
    cut = _smallest_cut(graph, targets, droppable & allowed, {*many}, allowed) if many else ()
    return cut if len(cut) <= most and all(dropped.container >= 0 for dropped in cut) else ()


def _items(graph: Graph) -> Bools:
    """Per reference: an item of a plain dict; where the dict must stay, a person drops the item alone."""
    references = graph.census.references
    return np.asarray((references.kind == ReferenceKind.ITEM) & ~graph.instance_tables[references.source], dtype=bool)


def removed_by(graph: Graph, cut: Iterable[Droppable]) -> Bools:
    """Per reference: dropping the cut removes it."""
    removed = np.zeros(len(graph.census.references.kind), dtype=bool)
    elements = np.isin(graph.census.references.kind, ELEMENT_REFERENCES)
    for dropped in cut:
        removed[dropped.reference] = True
        if dropped.container >= 0:
            removed |= elements & (graph.census.references.source == dropped.container)
    return removed


def freed_storages(graph: Graph, cut: Iterable[Droppable]) -> Ints:
    """Node numbers of the storages that dropping the cut frees, each once."""
    seeds = alive_seeds(graph)
    alive = reach(graph, seeds)
    still = reach(graph, seeds, without=removed_by(graph, cut))
    storages = graph.census.storages.node
    return storages[alive[storages] & ~still[storages]]


def alive_without(graph: Graph, cut: Iterable[Droppable]) -> Bools:
    """Per node: it lives on when the cut is dropped."""
    return reach(graph, alive_seeds(graph), without=removed_by(graph, cut))


def alive_seeds(graph: Graph) -> Ints:
    """Where life comes from: roots, and nodes with an unseen owner that no root reaches.

    An unseen owner of something that a root reaches too is mostly the evaluation stack of the very call that is
    being watched, and gone with it.
    """
    from_roots = reach(graph, graph.roots)
    return np.flatnonzero(held_unseen(graph) & ~from_roots | np.isin(np.arange(graph.size), graph.roots))


def many_containers(graph: Graph, many: Collection[int]) -> set[int]:
    """Containers whose elements count as one reference: those named, and all large ones."""
    nodes = graph.census.nodes
    large = (nodes.length >= LARGE_CONTAINER) & ~graph.instance_tables & (nodes.kind == NodeKind.OBJECT)
    return {*many, *np.flatnonzero(large).tolist()}


_TABLES = ("dict", "collections.OrderedDict")
_PASSING = (*GRAPH_REFERENCES, ReferenceKind.HOOK)
"""Through these a graph *uses* parameters, as every loss does; it does not own them."""


def _nodes_in_use(graph: Graph, targets: Ints, spared: Collection[int]) -> Ints:
    storages = graph.census.storages
    used = storages.node[np.isin(storages.role, IN_USE)]
    return np.setdiff1d(used, np.concatenate([targets, np.array(sorted(spared), dtype=np.int64)]))


def _on_paths(graph: Graph, paths: Paths, nodes: Ints) -> Bools:
    """Per reference: some node's best path runs over it, so that sparing it spares the node."""
    on = np.zeros(len(graph.census.references.kind), dtype=bool)
    frontier = nodes
    while len(frontier):
        parents = paths.parent[frontier]
        parents = np.unique(parents[parents >= 0])
        parents = parents[~on[parents]]
        on[parents] = True
        frontier = np.unique(graph.census.references.source[parents])
    return on


def _to_modules_in_use(graph: Graph, in_use: Ints) -> Bools:
    """Per reference: it leads to a module with memory in use among its own parameters and submodules', which the
    program calls by that name, however else that memory lives on."""
    references, kinds = graph.census.references, graph.census.nodes.kind
    modules = np.zeros(graph.size, dtype=bool)
    modules[module_nodes(graph)] = True
    tables = graph.instance_tables | np.array([name in _TABLES for name in graph.type_names], dtype=bool)
    own = modules | tables | np.isin(kinds, (NodeKind.TENSOR, NodeKind.STORAGE))
    passing = np.isin(references.kind, _PASSING)
    found = ancestors(graph, in_use, without=passing | ~own[references.source]) & modules
    return np.asarray(found[references.target], dtype=bool)


@dataclass
class _Network:
    """A flow network under construction; edge `i ^ 1` is the way back of edge `i`."""

    edges: list[list[int]]
    head: list[int] = field(default_factory=list)
    room: list[int] = field(default_factory=list)
    made_by: list[Droppable | None] = field(default_factory=list)

    def add(self, tail: int, head: int, room: int, made_by: Droppable | None = None) -> None:
        self.edges[tail].append(len(self.head))
        self.edges[head].append(len(self.head) + 1)
        self.head += [head, tail]
        self.room += [room, 0]
        self.made_by += [made_by, None]


def _smallest_cut(
    graph: Graph, targets: Ints, droppable: Bools, containers: set[int], allowed: Bools
) -> tuple[Droppable, ...]:
    network, source, sink = _build_network(graph, targets, droppable, containers, allowed)
    for _ in range(LARGEST_CUT):
        found = _augment(network, source, sink)
        if found == 0:
            return _nearest_to(network, sink)
        if found >= _INFINITE:
            return ()
    return ()


def _build_network(
    graph: Graph, targets: Ints, droppable: Bools, containers: set[int], allowed: Bools
) -> tuple[_Network, int, int]:
    above = ancestors(graph, targets)
    nodes = np.flatnonzero(above)
    place = np.full(graph.size, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    number = place.tolist()
    source, sink = len(nodes), len(nodes) + 1
    network = _Network(edges=[[] for _ in range(len(nodes) + 2)])
    for node in np.intersect1d(alive_seeds(graph), nodes).tolist():
        network.add(source, number[node], _INFINITE)
    for node in targets.tolist():
        network.add(number[node], sink, _INFINITE)
    references = graph.census.references
    doors: dict[int, int] = {}
    found = np.sort(gather(graph.into, graph.into_start, nodes))
    columns = (references.source[found], references.target[found], references.kind[found], droppable[found])
    for reference, tail, head, kind, can_drop in zip(found.tolist(), *(c.tolist() for c in columns), strict=True):
        if tail in containers and kind in ELEMENT_REFERENCES:
            if tail not in doors:
                doors[tail] = len(network.edges)
                network.edges.append([])
                open_to_cut = _door_is_droppable(graph, tail, allowed)
                network.add(number[tail], doors[tail], 1 if open_to_cut else _INFINITE, Droppable(reference, tail))
            network.add(doors[tail], number[head], _INFINITE)
        else:
            network.add(number[tail], number[head], 1 if can_drop else _INFINITE, Droppable(reference))
    return network, source, sink


def _door_is_droppable(graph: Graph, container: int, allowed: Bools) -> bool:
    """All elements may go: none of them leads to what must live."""
    made = graph.references_from(container)
    return all(allowed[r] for r in made if graph.census.references.kind[r] in ELEMENT_REFERENCES)


def _augment(network: _Network, source: int, sink: int) -> int:
    """Push flow along one shortest open way; 0 where none is left, infinite where nothing on it can be cut."""
    came_by = [-1] * len(network.edges)
    came_by[source] = -2
    waiting = deque([source])
    while waiting and came_by[sink] == -1:
        node = waiting.popleft()
        for edge in network.edges[node]:
            head = network.head[edge]
            if network.room[edge] > 0 and came_by[head] == -1:
                came_by[head] = edge
                waiting.append(head)
    if came_by[sink] == -1:
        return 0
    way = []
    node = sink
    while node != source:
        way.append(came_by[node])
        node = network.head[came_by[node] ^ 1]
    amount = min(network.room[edge] for edge in way)
    for edge in way:
        if network.room[edge] < _INFINITE // 2:
            network.room[edge] -= amount
        network.room[edge ^ 1] += amount
    return _INFINITE if amount >= _INFINITE // 2 else amount


def _nearest_to(network: _Network, sink: int) -> tuple[Droppable, ...]:
    """The cut on the sink's side: full edges into the nodes from which the sink can still be reached."""
    near = {sink}
    waiting = deque([sink])
    while waiting:
        node = waiting.popleft()
        for edge in network.edges[node]:
            tail = network.head[edge]
            if network.room[edge ^ 1] > 0 and tail not in near:
                near.add(tail)
                waiting.append(tail)
    cut = {
        made_by
        for edge in range(0, len(network.head), 2)
        if (made_by := network.made_by[edge]) is not None
        and network.head[edge] in near
        and network.head[edge ^ 1] not in near
    }
    return tuple(sorted(cut, key=lambda dropped: dropped.reference))
