"""From a group of nodes in one census to a suspect: path, holder, cut, and what dropping the cut would free."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from tenure.analysis.heap.cuts import IN_USE, alive_seeds, find_cut, freed_storages, removed_by
from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, Graph, own_references, reach, unquoted
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.held_by_gradients import path_by_gradient
from tenure.analysis.heap.holders import (
    Droppable,
    find_droppable,
    gradient_reference,
    gradients_with_graph,
    handler_reference,
    holding_reference,
    innermost_droppable,
    is_element,
)
from tenure.analysis.heap.library_slots import slot_facts
from tenure.analysis.heap.path_facts import path_facts
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import hops, is_finished_frame, owner_text, render_path, render_targets
from tenure.model.experiment import Drop
from tenure.model.finding import Symptom
from tenure.model.heap import BUFFERS_FREED, Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import SUSPENDED_TYPES, HoldingReference, Series, Suspect

SCALAR_BYTES = 512
"""A scalar's storage on a device, rounded as allocators round."""


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


@dataclass(frozen=True)
class Measured:
    """What was measured of a group over time."""

    series: Series
    bytes_per_step: float | None = None
    objects_per_step: float | None = None
    period: int | None = None
    copies_of: str = ""
    facts: dict[str, object] = field(default_factory=dict)


def assemble_suspect(group: Group, *, symptom: Symptom, measured: Measured, fingerprint: str) -> Suspect:
    """The suspect, its key still 0. Costs a cut and two searches of the census."""
    view, graph = group.view, group.view.graph
    collects = symptom in ("growth", "sawtooth")
    path = path_to(graph, view.paths, heaviest(group, by_graph=collects))
    droppable = find_droppable(graph)
    in_optimizer = _reference_to_optimizer(group, path, droppable)
    cut = (_emptied(group) if collects and in_optimizer is None else ()) or cut_of(group)
    by_gradient = path_by_gradient(view, group.nodes, path) if collects else ()
    path = by_gradient or path
    held_by = next((dropped for dropped in cut if dropped.reference in path or _enters(view, path, dropped)), None)
    link = None if held_by else _link_of_chain(view, path, cut)
    if link is not None:
        held_by, cut = link, (link,)
    held_by = held_by or (innermost_droppable(graph, droppable & graph.user_made, path, group.many) if path else None)
    if collects and link is None and held_by is not None:
        held_by = _binding_that_changes(view, path, held_by, droppable & graph.user_made, group.many)
    held_by = in_optimizer or held_by
    if not collects and held_by is not None and _is_of_library(view, held_by):
        held_by = _variable_of_ended_function(view, path) or held_by
    holder = describe_reference(view, held_by, group.many)
    if not holder.name:
        start = int(view.census.references.source[path[0]]) if path else heaviest(group)
        name = owner_text(graph, start)
        holder = HoldingReference(kind="unknown", name=name, expression=name)
    gradient = gradient_reference(graph, path)
    made_by_call = gradient or handler_reference(graph, path)
    holder = made_by_call or holder
    cut = (_gradients_that_free(group) if gradient else ()) or (gradients_with_graph(graph) if by_gradient else cut)
    rows = storage_rows(view, group.nodes)
    storages, nodes = view.census.storages, view.census.nodes
    graph_nodes = group.nodes[nodes.kind[group.nodes] == NodeKind.AUTOGRAD]
    freed = group.freed
    if freed is None:
        freed = freed_storages(graph, cut) if cut and not by_gradient else storages.node[rows]
    in_slot = slot_facts(view, held_by, group.nodes) if collects else {}
    return Suspect(
        key=0,
        symptom=symptom,
        path=hops(graph, path),
        path_text=render_path(graph, path),
        path_targets=render_targets(graph, path),
        holder=holder,
        cut=(() if made_by_call else tuple(describe_reference(view, dropped, group.many) for dropped in cut))
        or (holder,),
        retained_bytes=int(graph.bytes_of_node[freed].sum()),
        num_objects=max(measured.series.objects[-1], len(rows)) if symptom != "growth" else measured.series.objects[-1],
        num_graph_nodes=len(graph_nodes),
        device=main_device(view, rows),
        bytes_by_role=bytes_by_role(view, rows),
        first_step=next((step for step, seen in _present(measured.series) if seen), view.census.step),
        last_step=max((step for step, seen in _present(measured.series) if seen), default=view.census.step),
        series=measured.series,
        growth_bytes_per_step=measured.bytes_per_step,
        growth_objects_per_step=measured.objects_per_step,
        fingerprint=fingerprint,
        scalars=bool(len(rows)) and all(is_scalar(view, row) for row in rows.tolist()),
        pinned_bytes=pinned_bytes(view, rows),
        through_graph=any(view.census.references.kind[r] == ReferenceKind.GRAD_FN for r in path),
        graph_freed=is_graph_freed(view, graph_nodes),
        copies_of=measured.copies_of,
        period_steps=measured.period,
        holder_is_yours=held_by is None or not _is_of_library(view, held_by),
        facts=measured.facts | path_facts(view, path, graph_nodes, group.many) | _chain_facts(view, held_by) | in_slot,
        storages=identities(view, freed),
        storages_at=view.census.step,
        drops=drops_of(view.graph, cut or ((held_by,) if held_by else ())),
    )


def drops_of(graph: Graph, cut: Iterable[Droppable]) -> tuple[Drop, ...]:
    """The references of a cut by the addresses of what they connect, so that they are found in the same process."""
    references, addresses = graph.census.references, graph.census.nodes.address
    drops = []
    for dropped in cut:
        whole = dropped.container >= 0
        source = dropped.container if whole else int(references.source[dropped.reference])
        drops.append(
            Drop(
                source=int(addresses[source]),
                source_type=graph.type_names[source],
                kind=ReferenceKind(int(references.kind[dropped.reference])).name,
                label=unquoted(graph.labels[dropped.reference]),
                target=0 if whole else int(addresses[references.target[dropped.reference]]),
                whole=whole,
            )
        )
    return tuple(drops)


def identities(view: View, storages: Ints) -> frozenset[tuple[int, int]]:
    """Address and bytes of storage nodes: the same for the same memory while it lives."""
    addresses, sizes = view.census.nodes.address[storages], view.graph.bytes_of_node[storages]
    return frozenset(zip(addresses.tolist(), sizes.tolist(), strict=True))


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


def _emptied(group: Group) -> tuple[Droppable, ...]:
    """The one container in which the group's members come together, where to empty it frees all that must go and
    nothing that is in use; else nothing. What lies below its elements, or has the container, is not to blame."""
    if group.cut is not None or len(group.many) != 1:
        return ()
    graph, (container,) = group.view.graph, group.many
    cut = tuple(Droppable(r, container) for r in graph.references_from(container) if is_element(graph, r))[:1]
    freed = freed_storages(graph, cut)
    storages = group.view.census.storages
    in_use = storages.node[np.isin(storages.role, IN_USE)]
    spoilt = np.setdiff1d(np.intersect1d(freed, in_use), group.nodes)
    wanted = np.intersect1d(group.targets, storages.node)
    return cut if len(wanted) and not len(spoilt) and np.isin(wanted, freed).all() else ()


def _gradients_that_free(group: Group) -> tuple[Droppable, ...]:
    """All gradients that carry a graph, where without them none of the group's targets has an owner; else nothing."""
    graph = group.view.graph
    cut = gradients_with_graph(graph)
    still = reach(graph, alive_seeds(graph), without=removed_by(graph, cut))
    return () if still[group.targets].any() else cut


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


def describe_reference(view: View, dropped: Droppable | None, many: Collection[int]) -> HoldingReference:
    """A droppable reference in words; of kind unknown where there is none."""
    if dropped is None:
        return HoldingReference(kind="unknown", name="", expression="")
    return holding_reference(view.graph, view.paths, dropped, many=many)


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


def has_only_scalars(view: View, rows: Ints) -> bool:
    """Every one of these storages has one element and no more memory than that."""
    small = bool(np.all(view.census.storages.bytes[rows] <= SCALAR_BYTES))
    return small and all(is_scalar(view, row) for row in rows.tolist())


def storage_rows(view: View, nodes: Ints) -> Ints:
    """Rows of `census.storages` of those nodes that are storages."""
    return np.flatnonzero(np.isin(view.census.storages.node, nodes))


def is_scalar(view: View, row: int) -> bool:
    """The storage's largest view has one element."""
    return view.census.text(int(view.census.storages.shape[row])) in ("[]", "[1]")


def pinned_bytes(view: View, rows: Ints) -> int:
    """Bytes of some storages that no view of theirs can be covering, even if none of the views overlap."""
    storages = view.census.storages
    covered = np.minimum(storages.bytes[rows], storages.view_bytes[rows] * storages.num_views[rows])
    return int((storages.bytes[rows] - covered)[storages.num_views[rows] > 0].sum())


def bytes_by_role(view: View, rows: Ints) -> dict[str, int]:
    """Bytes of some storages by the name of their role, largest first."""
    storages = view.census.storages
    found = {role.name: int(storages.bytes[rows][storages.role[rows] == role].sum()) for role in Role}
    return dict(sorted(((name, size) for name, size in found.items() if size), key=lambda item: -item[1]))


def main_device(view: View, rows: Ints) -> str:
    """The device of most of the bytes."""
    storages = view.census.storages
    if len(rows) == 0:
        rows = np.arange(len(storages.node))
    if len(rows) == 0:
        return ""
    devices = np.unique(storages.device[rows])
    heaviest_device = max(
        devices.tolist(), key=lambda d: (int(storages.bytes[rows][storages.device[rows] == d].sum()), -d)
    )
    return view.census.text(heaviest_device)


def is_graph_freed(view: View, graph_nodes: Ints) -> bool:
    """Backward has released the saved buffers of these nodes: some say so and none still holds any."""
    if not len(graph_nodes):
        return False
    freed = (view.census.nodes.flags[graph_nodes] & BUFFERS_FREED) != 0
    references = view.census.references
    saves = np.isin(references.source, graph_nodes) & (references.kind == ReferenceKind.SAVED)
    return bool(freed.any()) and not bool(saves.any())


def _reference_to_optimizer(group: Group, path: tuple[int, ...], droppable: Bools) -> Droppable | None:
    """The user's reference to the optimizer in whose own tables a path ends: nobody drops entries of those.

    A path that goes on from there through a hook, or anything else that the user's own code made, ends elsewhere; and
    where it is a container of optimizers that grows, or most of the group lies in others, what has them is to blame.
    """
    graph, sources = group.view.graph, group.view.census.references.source
    inside = (at for at, r in enumerate(path) if graph.type_names[int(sources[r])].startswith("torch.optim."))
    enters = next(inside, None)
    if enters is None or any(int(sources[reference]) in group.many for reference in path[:enters]):
        return None
    user_made = droppable & graph.user_made
    if any(user_made[reference] for reference in path[enters:]) or not _leads_to_most(group, path[enters:]):
        return None
    return next((Droppable(reference) for reference in reversed(path[:enters]) if user_made[reference]), None)


def _leads_to_most(group: Group, path: tuple[int, ...]) -> bool:
    """Half of the group's bytes, or more, can be reached from where the path starts."""
    graph = group.view.graph
    below = reach(graph, group.view.census.references.source[list(path[:1])])
    sizes = graph.bytes_of_node[group.nodes]
    return 2 * int(sizes[below[group.nodes]].sum()) >= int(sizes.sum())


def _is_of_library(view: View, dropped: Droppable) -> bool:
    return bool(view.graph.library[_owner(view, dropped)])


def _variable_of_ended_function(view: View, path: tuple[int, ...]) -> Droppable | None:
    """The variable of the program's own function by which a path leaves a traceback: `sys.last_exc` alone tells a
    reader nothing."""
    graph, references = view.graph, view.census.references
    for reference in reversed(path):
        source, is_variable = int(references.source[reference]), references.kind[reference] == ReferenceKind.LOCAL
        if is_variable and is_finished_frame(graph, source) and not graph.library[source]:
            return Droppable(reference)
    return None


def _link_of_chain(view: View, path: tuple[int, ...], cut: tuple[Droppable, ...]) -> Droppable | None:
    """Where the cut is a link of a chain (`.previous.previous`): the same link where the path takes it, which lets as
    much go."""
    if len(cut) != 1 or cut[0].container >= 0:
        return None
    graph, references = view.graph, view.census.references

    def link(reference: int) -> tuple[str, str, int, str]:
        owner, target = int(references.source[reference]), int(references.target[reference])
        kind = int(references.kind[reference])
        return graph.type_names[owner], graph.labels[reference], kind, graph.type_names[target]

    same = [Droppable(reference) for reference in path if link(reference) == link(cut[0].reference)]
    if not same or not np.isin(freed_storages(graph, cut), freed_storages(graph, same[-1:])).all():
        return None
    return same[-1]


def _chain_facts(view: View, held_by: Droppable | None) -> dict[str, object]:
    """`chain_of`: the type of the objects each of which refers to the next by the same name as the holder."""
    if held_by is None or held_by.container >= 0:
        return {}
    graph, references = view.graph, view.census.references
    owner, label = int(references.target[held_by.reference]), graph.labels[held_by.reference]
    nexts = [int(references.target[r]) for r in own_references(graph, owner) if graph.labels[r] == label]
    types = {graph.type_names[node] for node in nexts}
    return {"chain_of": graph.type_names[owner]} if types == {graph.type_names[owner]} else {}


def _binding_that_changes(
    view: View, path: tuple[int, ...], held_by: Droppable, named: Bools, many: Collection[int]
) -> Droppable:
    """The reference by which a path enters the graphs or lists that grow, where the cut was made at an object above.

    Graphs of several values that share layers are freed by one reference only above all of them, as are lists in a
    dict, and such an object is mostly made once: the statement that binds the values is what adds to them. What a
    library's object holds by itself is not blamed on the variable for that object.
    """
    kinds, sources = view.census.references.kind, view.census.references.source
    enters = next((at for at, reference in enumerate(path) if kinds[reference] == ReferenceKind.GRAD_FN), None)
    if enters is None:
        enters = max((at for at, reference in enumerate(path) if int(sources[reference]) in many), default=0)
    if held_by.container >= 0 or held_by.reference not in path[:enters]:
        return held_by
    below = innermost_droppable(view.graph, named, path, many)
    return below if path.index(below.reference) > path.index(held_by.reference) else held_by


def _enters(view: View, path: tuple[int, ...], dropped: Droppable) -> bool:
    """The path takes another element out of the container that the cut empties."""
    return dropped.container >= 0 and any(
        int(view.census.references.source[reference]) == dropped.container for reference in path
    )


def _owner(view: View, dropped: Droppable) -> int:
    return dropped.container if dropped.container >= 0 else int(view.census.references.source[dropped.reference])


def _present(series: Series) -> list[tuple[int, bool]]:
    rows = zip(series.steps, series.bytes, series.objects, series.graph_nodes, strict=True)
    return [(step, bool(num_bytes or objects or nodes)) for step, num_bytes, objects, nodes in rows]
