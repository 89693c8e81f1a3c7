"""Islands: what no root reaches and nothing unseen holds. Only the cyclic collector frees it, or not even that.

Decided as the collector decides, by reference counts: an object whose references are all explained by other
objects of its ring is garbage. A node whose counts could not be read is never called an island.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph, held_unseen, object_of, reach, unquoted
from tenure.analysis.heap.holders import INTERNAL_ATTRIBUTES
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import Ints, NodeKind, ReferenceKind

_CUTTING_ORDER = (
    ReferenceKind.ATTRIBUTE,
    ReferenceKind.ITEM,
    ReferenceKind.INDEX,
    ReferenceKind.CELL,
    ReferenceKind.DEFAULT,
    ReferenceKind.LOCAL,
    ReferenceKind.MEMBER,
    ReferenceKind.HOOK,
    ReferenceKind.SELF,
)


_COLLECTIONS = (
    "list",
    "dict",
    "set",
    "tuple",
    "collections.deque",
    "collections.OrderedDict",
    "collections.defaultdict",
)
_PARTIAL = "functools.partial"
"""Its attributes are made by C code."""
MOST_CUTS = 4
"""A ring that needs more references dropped is told by the first of them alone."""
STILL_HELD = 0.1
"""Of a ring's bytes: if dropping its cut leaves no more than so much, no other reference need be named."""


@dataclass(frozen=True)
class Island:
    """A ring of references that holds itself, and the storages and graph nodes that live by it.

    `cut` is the reference of the ring that is best dropped, `ring` the way around starting with it; `others` have to be
    dropped as well where several ways lead around. `cuts` are all of these with the references like them of further
    rings that this one holds.
    """

    signature: str
    members: Ints
    ring: tuple[int, ...]
    cut: int
    others: tuple[int, ...]
    cuts: Ints
    storages: Ints
    num_graph_nodes: int
    through_own_hook: bool
    """The ring runs over a hook of a tensor that an autograd node made."""
    through_cpp: bool
    """The ring runs over autograd nodes, or over a hook of a tensor that one made, which that node keeps too: Python's
    collector frees it only where nothing but the ring owns the node."""


def find_islands(graph: Graph) -> tuple[Island, ...]:
    """All rings that nothing alive leads to and no other ring holds, in node order."""
    lost = ~is_alive(graph)
    if not lost.any():
        return ()
    components = strong_components(graph, np.flatnonzero(lost).tolist())
    rings = [component for component in components if _is_ring(graph, component)]
    claimed = np.zeros(graph.size, dtype=bool)
    found = []
    for ring in reversed(rings):  # the search hands out what is deepest first: owners come last
        if claimed[ring[0]]:
            continue
        below = reach(graph, np.array(ring, dtype=np.int64)) & lost & ~claimed
        claimed |= below
        found.append(_island(graph, sorted(ring), below))
    return tuple(sorted(found, key=lambda island: int(island.members[0])))


def is_alive(graph: Graph) -> Bools:
    """For each node whether a root, or an owner outside of the census, leads to it."""
    return reach(graph, np.union1d(graph.roots, np.flatnonzero(held_unseen(graph))))


def unseen_owned(graph: Graph) -> Ints:
    """Nodes that no root reaches and that an owner outside of the census holds: the evaluation stack of a running
    call, C or C++ code, an untracked container. Alive, and nobody's mistake until more is known."""
    return np.flatnonzero(held_unseen(graph) & ~reach(graph, graph.roots))


def strong_components(graph: Graph, nodes: Sequence[int], *, without: Collection[int] = ()) -> list[list[int]]:
    """Strongly connected components among `nodes`, what is referred to before what refers (Tarjan, no recursion);
    the references `without` are not followed."""
    allowed = set(nodes)
    target = graph.census.references.target
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    for start in nodes:
        if start in index:
            continue
        work = [(start, iter(graph.references_from(start)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, references = work[-1]
            for reference in references:
                head = int(target[reference])
                if head not in allowed or reference in without:
                    continue
                if head not in index:
                    index[head] = low[head] = len(index)
                    stack.append(head)
                    on_stack.add(head)
                    work.append((head, iter(graph.references_from(head))))
                    break
                if head in on_stack:
                    low[node] = min(low[node], index[head])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_take_component(stack, on_stack, node))
    return found


def _take_component(stack: list[int], on_stack: set[int], head: int) -> list[int]:
    component = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        component.append(node)
        if node == head:
            return component


def _is_ring(graph: Graph, component: list[int], *, without: Collection[int] = ()) -> bool:
    if len(component) > 1:
        return True
    target = graph.census.references.target
    return any(
        int(target[reference]) == component[0] and reference not in without
        for reference in graph.references_from(component[0])
    )


def _island(graph: Graph, ring: list[int], below: Bools) -> Island:
    storages = graph.census.storages.node
    kinds = graph.census.nodes.kind
    names = sorted({graph.type_names[node] for node in ring if not graph.instance_tables[node]})
    cut = _best_cut(graph, ring)
    cuts = _alike(graph, cut, below)
    others = _other_cuts(graph, ring, below, cuts)
    own_hook = bool(_hooked_results(graph, ring))
    return Island(
        signature=" ".join(names),
        members=np.array(ring, dtype=np.int64),
        ring=_way_around(graph, ring, cut),
        cut=cut,
        others=others,
        cuts=np.concatenate([cuts, *(_alike(graph, other, below) for other in others)]),
        storages=storages[below[storages]],
        num_graph_nodes=int(np.count_nonzero(below & (kinds == NodeKind.AUTOGRAD))),
        through_own_hook=own_hook,
        through_cpp=own_hook or bool(np.any(kinds[ring] == NodeKind.AUTOGRAD)),
    )


def _hooked_results(graph: Graph, ring: Sequence[int]) -> set[int]:
    """Tensors of a ring with a graph that lead on by their hooks, which their node keeps as well."""
    references, inside = graph.census.references, set(ring)
    found = set()
    for node in ring:
        kinds = {int(references.kind[r]): int(references.target[r]) for r in graph.references_from(node)}
        if ReferenceKind.GRAD_FN in kinds and kinds.get(ReferenceKind.HOOK) in inside:
            found.add(node)
    return found


def _names_of(graph: Graph, choices: Sequence[int], tensors: Collection[int]) -> set[int]:
    """Of some references the variables and attributes by which tensors, or the containers that have them, are kept."""
    references = graph.census.references
    found = set()
    for reference in choices:
        if int(references.target[reference]) not in tensors:
            continue
        if references.kind[reference] == ReferenceKind.CELL or attribute_name(graph, reference):
            found.add(reference)
            continue
        container = int(references.source[reference])
        found |= {r for r in choices if int(references.target[r]) == container and attribute_name(graph, r)}
    return found


def _other_cuts(graph: Graph, ring: list[int], below: Bools, cuts: Ints) -> tuple[int, ...]:
    """Which references have to go besides `cuts` so that the memory does, as of a node with two outputs on its ctx."""
    storages = graph.census.storages.node[below[graph.census.storages.node]]
    enough = STILL_HELD * int(graph.bytes_of_node[storages].sum())
    gone, found = set(cuts.tolist()), list[int]()
    while left := [
        each for each in strong_components(graph, ring, without=gone) if _is_ring(graph, each, without=gone)
    ]:
        dropped = np.zeros(len(graph.census.references.kind), dtype=bool)
        dropped[sorted(gone)] = True
        held = reach(graph, np.concatenate(left), without=dropped)[storages]
        if int(graph.bytes_of_node[storages[held]].sum()) <= enough:
            break
        if len(found) + 1 == MOST_CUTS:
            return ()
        found.append(_best_cut(graph, left[0], without=gone))
        gone.update(_alike(graph, found[-1], below).tolist())
    return tuple(found)


def _best_cut(graph: Graph, ring: list[int], *, without: Collection[int] = ()) -> int:
    """What a custom Function has on its ctx, or another attribute that the user's code sets, rather one that leads back
    to a single object than a collection, else the most nameable reference of the ring; what the interpreter adds to
    exceptions, frames and methods comes last."""
    inside = set(ring)
    references = graph.census.references
    choices = [
        reference
        for node in ring
        for reference in graph.references_from(node)
        if int(references.target[reference]) in inside and reference not in without
    ]

    through_hook = any(graph.hook_tables[node] for node in ring) or ReferenceKind.HOOK in references.kind[choices]
    to_hooked = _names_of(graph, choices, _hooked_results(graph, ring))
    kinds = graph.census.nodes.kind

    def preference(reference: int) -> tuple[int, bool, bool, int, str, int]:
        kind = ReferenceKind(int(references.kind[reference]))
        named = bool(attribute_name(graph, reference))
        if reference in to_hooked:
            return (-2, False, False, 0, graph.labels[reference], reference)
        if through_hook and kind == ReferenceKind.CELL:  # the hook can know its owner weakly; the owner needs its parts
            return (-1, False, False, 0, graph.labels[reference], reference)
        if named and kinds[object_of(graph, int(references.source[reference]))] == NodeKind.AUTOGRAD:
            return (-1, False, False, 1, graph.labels[reference], reference)  # a record on ctx may well have the output
        internal = unquoted(graph.labels[reference]) in INTERNAL_ATTRIBUTES
        internal |= graph.type_names[int(references.source[reference])] == _PARTIAL
        order = _CUTTING_ORDER.index(kind) if kind in _CUTTING_ORDER else len(_CUTTING_ORDER)
        library = bool(graph.library[int(references.source[reference])])
        collects = named and graph.type_names[int(references.target[reference])] in _COLLECTIONS  # not what leads back
        rank = 2 if internal else 0 if named else 1
        return (rank, library, collects, order, graph.labels[reference], reference)

    return min(choices, key=preference)


def _alike(graph: Graph, cut: int, below: Bools) -> Ints:
    """The references that the statement of the cut made in all objects `below`: same label, owners of one type."""
    references, types = graph.census.references, graph.census.nodes.type
    same = (references.label == references.label[cut]) & (references.kind == references.kind[cut])
    same &= below[references.source] & (types[references.source] == types[references.source[cut]])
    return np.flatnonzero(same)


def _way_around(graph: Graph, ring: list[int], cut: int) -> tuple[int, ...]:
    """The ring as a path: `cut` first, then the shortest way back to where it starts."""
    references = graph.census.references
    inside, start, goal = set(ring), int(references.target[cut]), int(references.source[cut])
    came_by: dict[int, int] = {start: -1}
    waiting = [start]
    for node in waiting:
        for reference in graph.references_from(node):
            head = int(references.target[reference])
            if head in inside and head not in came_by:
                came_by[head] = reference
                waiting.append(head)
    way: list[int] = []
    node = goal
    while came_by[node] >= 0:
        way.append(came_by[node])
        node = int(references.source[came_by[node]])
    return (cut, *reversed(way))
