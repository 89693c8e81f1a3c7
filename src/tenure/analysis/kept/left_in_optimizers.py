"""Parameters of a layer or model that was replaced or let go, kept by its optimizer with their gradients and state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.carriers import by_the_librarys_table
from tenure.analysis.heap.graph import Bools, Graph, labelled, object_of, reach, unquoted
from tenure.analysis.heap.groups import View, fingerprint_of, in_program_order, series_of_rows
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable, find_droppable, innermost_droppable
from tenure.analysis.heap.library_tables import elements_of_library_tables
from tenure.analysis.heap.modules import OWN_TABLES, all_below, module_nodes
from tenure.analysis.heap.optimizers import memory_of, optimizer_nodes, parameters_of
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import ROOT_KINDS, Ints, ReferenceKind
from tenure.model.suspect import Suspect

_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL)
_USING = (ReferenceKind.GRAD_FN, ReferenceKind.NEXT, ReferenceKind.SAVED)


@dataclass(frozen=True)
class Place:
    """A module's own name for a parameter or another module, all by address."""

    owner: int
    name: str
    child: int


@dataclass(frozen=True)
class _Replaced:
    """A layer or parameter whose place in its module was given to another, and the parameters that went with it."""

    name: str
    type_name: str
    owner: int
    step: int
    parameters: frozenset[int]


def find_left_in_optimizers(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": an optimizer that still has parameters whose place in a module others took.

    A parameter counts that a module had in an earlier census, that none has from then on, and that only optimizers
    hold. Parameters that never were a module's, and those that somebody else holds or a graph uses, are in use.
    Seen in one step's end at least, for calls may put other tensors into a module while they run.
    """
    ordered = in_program_order(views)
    if not any(optimizer_nodes(view.graph) for view in ordered[-1:]):
        return ()
    places = [places_of(view) for view in ordered]
    suspects = []
    for at, (before, after) in enumerate(pairwise(places), start=1):
        later, places_later = ordered[at:], places[at:]
        if len(later) < 2 or all(view.census.moment != "step-end" for view in later):
            break
        for replaced in _find_replaced(ordered[at - 1], ordered[at], before, after, places_later):
            suspects += _suspects(ordered, later, replaced)
    return tuple(suspects)


def places_of(view: View) -> frozenset[Place]:
    """What modules call their parameters and each other, and what other objects and variables call modules."""
    graph, references, address = view.graph, view.census.references, view.census.nodes.address
    found = set()
    tables = _module_tables(graph)
    for reference in np.flatnonzero((references.kind == ReferenceKind.ITEM) & tables[references.source]).tolist():
        for above in graph.references_to(int(references.source[reference])):
            if unquoted(graph.labels[above]) in OWN_TABLES:
                child, name = int(address[references.target[reference]]), unquoted(graph.labels[reference])
                found.add(Place(_owner_address(graph, int(references.source[above])), name, child))
    return frozenset(found | _names_of_modules(view, tables))


def _names_of_modules(view: View, tables: Bools) -> set[Place]:
    graph, references, address = view.graph, view.census.references, view.census.nodes.address
    found = set()
    for module in module_nodes(graph):
        for reference in graph.references_to(module):
            owner, child = int(references.source[reference]), int(address[module])
            if references.kind[reference] in _VARIABLES and view.census.nodes.kind[owner] in ROOT_KINDS:
                found.add(Place(int(address[owner]), graph.labels[reference], child))
            elif (name := attribute_name(graph, reference)) and not tables[owner]:
                found.add(Place(_owner_address(graph, owner), name, child))
    return found


def _module_tables(graph: Graph) -> Bools:
    """Per node: a module has its parameters or the modules inside it there."""
    tables = np.zeros(graph.size, dtype=bool)
    tables[graph.census.references.target[labelled(graph, OWN_TABLES)]] = True
    return tables & graph.instance_tables


def _owner_address(graph: Graph, node: int) -> int:
    """Of the object whose `__dict__` a node is, else of the node."""
    return int(graph.census.nodes.address[object_of(graph, node)])


def _find_replaced(
    view: View,
    after_view: View,
    before: frozenset[Place],
    after: frozenset[Place],
    later: Sequence[frozenset[Place]],
) -> list[_Replaced]:
    """Places that something else has now, or nothing, with the parameters below them that no module has any more."""
    had, has = ({(place.owner, place.name): place.child for place in places} for places in (before, after))
    below: dict[int, set[int]] = {}
    for place in before:
        below.setdefault(place.owner, set()).add(place.child)
    known = set(view.census.nodes.address[parameters_of(view)].tolist())
    alive = set(after_view.census.nodes.address.tolist())
    still_had = {place.child for places in later for place in places}
    found = []
    for (owner, name), child in sorted(had.items()):
        if has.get((owner, name)) == child or owner not in alive:
            continue
        gone = frozenset((all_below(below, child) & known) - still_had)
        if gone:
            node = int(np.flatnonzero(view.census.nodes.address == child)[0])
            found.append(_Replaced(name, view.graph.type_names[node], owner, after_view.census.step, gone))
    return found


def _suspects(ordered: Sequence[View], later: Sequence[View], replaced: _Replaced) -> list[Suspect]:
    last = later[-1]
    graph, nodes = last.graph, last.census.nodes
    kept = parameters_of(last)
    kept = np.unique(kept[np.isin(nodes.address[kept], sorted(replaced.parameters))])
    suspects = []
    for optimizer in optimizer_nodes(graph):
        mine = _held_by_it_alone(graph, optimizer, kept)
        path = path_to(graph, last.paths, optimizer)
        if not len(mine) or not path or not last.paths.held_by_root(optimizer):
            continue
        found = set(replaced.parameters) & set(nodes.address[mine].tolist())
        if all(found <= set(view.census.nodes.address.tolist()) for view in later):
            suspects.append(_suspect(ordered, last, replaced, mine, optimizer, path))
    return suspects


def _held_by_it_alone(graph: Graph, optimizer: int, parameters: Ints) -> Ints:
    """Those parameters that an optimizer has and nothing else reaches, graphs included."""
    from_roots = np.setdiff1d(graph.roots, [optimizer])
    without = np.asarray(graph.census.references.target == optimizer, dtype=bool)
    elsewhere = reach(graph, from_roots, without=without)
    return parameters[_below(graph, optimizer)[parameters] & ~elsewhere[parameters]]


def _below(graph: Graph, optimizer: int) -> Bools:
    """Per node: an optimizer leads to it, graphs left out."""
    return reach(graph, np.array([optimizer]), without=np.isin(graph.census.references.kind, _USING))


def _suspect(
    ordered: Sequence[View],
    last: View,
    replaced: _Replaced,
    parameters: Ints,
    optimizer: int,
    path: tuple[int, ...],
) -> Suspect:
    graph = last.graph
    memory = _without_what_others_use(last, optimizer, parameters)
    addresses = graph.census.nodes.address[parameters].tolist()
    rows = [_weight(view, addresses) for view in ordered]
    in_tables = elements_of_library_tables(graph)
    noted = next((reference for reference in path if in_tables[reference]), None)
    if noted is not None:
        holder = Droppable(noted)
    else:
        holder = innermost_droppable(graph, find_droppable(graph) & graph.user_made, path, ())
    found = assemble_suspect(
        Group(last, memory, memory, cut=(holder,), freed=memory),
        symptom="survivor",
        measured=Measured(
            series=series_of_rows(last.census.moment, ordered, rows),
            facts={"released": replaced.name, "released_step": replaced.step, "module": replaced.type_name},
        ),
        fingerprint=fingerprint_of(
            f"survivor {graph.type_names[optimizer]} {replaced.type_name} {replaced.name}",
        ),
    )
    return found if noted is None else by_the_librarys_table(found)


def _without_what_others_use(view: View, optimizer: int, parameters: Ints) -> Ints:
    """Storages that go with parameters; state that an optimizer's other parameters were given stays with those."""
    graph = view.graph
    others = parameters_of(view)
    others = np.setdiff1d(others[_below(graph, optimizer)[others]], parameters)
    found: Ints = np.setdiff1d(memory_of(graph, parameters), memory_of(graph, others))
    return found


def _weight(view: View, addresses: Iterable[int]) -> tuple[int, int]:
    """Bytes of some parameters in one census, with what belongs to them, and how many storages that is."""
    tensors = parameters_of(view)
    memory = memory_of(view.graph, tensors[np.isin(view.census.nodes.address[tensors], list(addresses))])
    return int(view.graph.bytes_of_node[memory].sum()), len(memory)
