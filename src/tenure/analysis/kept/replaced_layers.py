"""Layers whose place in a model was given to others, or that went to meta or away as a whole, and whose memory
something else still keeps: a way back, a log, a list, a dict of the state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect, told_by_holder
from tenure.analysis.heap.graph import own_references, reach
from tenure.analysis.heap.groups import View, fingerprint_of, in_program_order, series_of_nodes
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.modules import all_below, called_at, module_nodes
from tenure.analysis.heap.optimizers import optimizer_nodes, parameters_of
from tenure.analysis.heap.wording import attribute_name
from tenure.analysis.kept.left_in_optimizers import Place, places_of
from tenure.model.heap import CALLED, GRAPH_CONTINUES, Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import IDLE_FROM, Suspect

FEWEST_LATER = 3
"""So many censuses, of at least two steps, must have seen the layer out of its place."""
LEAST_BYTES = 256 << 10
LEAST_SHARE = 0.01
_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL, ReferenceKind.CELL)
_WORDS = {"replaced": "replaced", "to meta": "moved", "ended": "ended"}
_USED_BY_GRAPH = (ReferenceKind.SAVED, ReferenceKind.NEXT)


@dataclass(frozen=True)
class _Replaced:
    """What took a layer's place when, the addresses of the layer's parameters, and which storages are their memory: the
    address of a tensor that was let go of may be another's afterwards."""

    name: str
    type_name: str
    step: int
    parameters: frozenset[int]
    memory: frozenset[int]
    modules: frozenset[int]
    """The layer's address and those of the modules inside of it, as far as they are still there."""
    went: Literal["replaced", "to meta", "ended"] = "replaced"
    """Others took its place; or it is still there with parameters that have no memory; or nobody has it any more."""


def find_replaced_layers(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": parameters of layers that others replaced, once and for all, inside a model
    that lives on. What another module, a variable or an attribute still has, an optimizer updates, a graph uses or
    the program calls is in use. Layers of one type that went together are one suspect. A module that went to meta
    has new parameters, and says that the old ones were to go; those that a variable or attribute names are in use. Of a
    module that nobody has any more a list may have the parameters, or other tensors their memory, as those of a
    `state_dict()` have."""
    ordered = in_program_order(views)
    places = [places_of(view) for view in ordered]
    modules = [_modules_of(view) for view in ordered]
    found: dict[tuple[str, int], list[_Replaced]] = {}
    for at, (before, after) in enumerate(pairwise(places), start=1):
        later = ordered[at:]
        if len(later) < FEWEST_LATER or len({view.census.step for view in later}) < 2:
            break
        gone = _find_replaced(ordered[at - 1], ordered[at], before, after, places[at:])
        settled = max((n for n in range(at) if ordered[n].census.moment == "step-end"), default=at - 1)
        if _places_on_meta(ordered[at], after) - _places_on_meta(ordered[at - 1], before):
            gone += _find_moved_to_meta(ordered[settled], later, places[settled], after, places[at:])
        ended = modules[at - 1].difference(*modules[at:])
        gone += _find_ended(ordered[at - 1], later, ended, before, places[at:])
        for replaced in gone:
            if not _is_used(later, replaced):
                found.setdefault((replaced.type_name, replaced.step), []).append(replaced)
    suspects = (_suspect(ordered, group) for group in found.values())
    return tuple(suspect for suspect in suspects if suspect is not None)


def _find_replaced(
    view: View, after_view: View, before: frozenset[Place], after: frozenset[Place], later: Sequence[frozenset[Place]]
) -> list[_Replaced]:
    modules = _modules_of(view)
    had, has = ({(place.owner, place.name): place.child for place in each} for each in (before, after))
    gave_way = [
        (name, child)
        for (owner, name), child in sorted(had.items())
        if owner in modules and child in modules and has.get((owner, name), child) != child
    ]
    if not gave_way:
        return []
    below, memory = _children_of(before), _memory_by_tensor(after_view)
    known = _addresses(view, parameters_of(view)) & _same(_memory_by_tensor(view), memory)
    found = []
    for name, child in gave_way:
        inside = all_below(below, child)
        elsewhere = {place.child for each in later for place in each if place.owner not in inside}
        gone = frozenset((inside & known) - _all_inside(later, elsewhere))
        if gone and child not in elsewhere:
            node = int(np.flatnonzero(view.census.nodes.address == child)[0])
            names = (name, view.graph.type_names[node])
            found.append(_replaced(names, after_view, memory, gone, frozenset(inside & modules), "replaced"))
    return found


def _find_moved_to_meta(
    view: View,
    later_views: Sequence[View],
    before: frozenset[Place],
    after: frozenset[Place],
    later: Sequence[frozenset[Place]],
) -> list[_Replaced]:
    """The outermost modules all of whose parameters have no memory from now on, with the tensors that had it: the
    parameters of the `view` before, best at a step's end, and what shared their memory then."""
    taken = _places_on_meta(later_views[0], after)
    known = _addresses(view, parameters_of(view))
    went = {place.child for place in before if (place.owner, place.name) in taken} & known
    if not went:
        return []
    below = _children_of(before)
    all_modules = _modules_of(view)
    inside = {address: all_below(below, address) for address in all_modules}
    emptied = {address for address in all_modules if inside[address] & went and inside[address] & known <= went}
    outermost = emptied - {each for address in emptied for each in inside[address] - {address}}
    in_use = {place.child for places in later for place in places} | frozenset.intersection(*map(_named, later_views))
    found, memory = [], _memory_by_tensor(later_views[0])
    for address in sorted(outermost):
        modules = frozenset(inside[address] & all_modules)
        parameters = _with_their_memory(inside[address] & went, view, later_views[0], in_use)
        left = parameters | frozenset.intersection(*(_plain_attributes(each, modules) for each in (view, *later_views)))
        if left:
            names = _names_of(view, address, before)
            found.append(_replaced(names, later_views[0], memory, left, modules, "to meta"))
    return found


def _plain_attributes(view: View, modules: Collection[int]) -> frozenset[int]:
    """Addresses of tensors with memory that some modules, by address, have as attributes and neither as parameters nor
    as buffers: `.to()` leaves them where they are, as it does the `weight` that `weight_norm` computes."""
    graph, references, nodes = view.graph, view.census.references, view.census.nodes
    with_memory = set(references.source[references.kind == ReferenceKind.STORAGE].tolist())
    chosen = np.flatnonzero(np.isin(nodes.address, sorted(modules))).tolist()
    owned = {int(references.target[r]) for node in chosen for r in own_references(graph, node)
             if nodes.kind[references.target[r]] == NodeKind.TENSOR and attribute_name(graph, r)}  # fmt: skip
    return frozenset(_addresses(view, np.array(sorted(owned & with_memory), dtype=np.int64)))


def _find_ended(
    view: View,
    later_views: Sequence[View],
    gone: Collection[int],
    before: frozenset[Place],
    later: Sequence[frozenset[Place]],
) -> list[_Replaced]:
    """The outermost of the modules that are gone, and those of their parameters that something still has, by no name
    of its own; where all are gone, the tensors that have their memory still and are no parameters of other modules."""
    if not gone:
        return []
    below, known = _children_of(before), _addresses(view, parameters_of(view))
    had, has = _memory_by_tensor(view), _memory_by_tensor(later_views[0])
    inside = {address: all_below(below, address) for address in gone}
    named = frozenset.intersection(*map(_named, later_views))
    in_use = named | {place.child for places in later for place in places}
    used = {has[tensor] for tensor in in_use & has.keys()}
    found = []
    for address in sorted(set(gone) - {each for top in gone for each in inside[top] - {top}}):
        tensors = inside[address] & known
        own = tensors & _same(had, has)
        if not had.keys() & tensors or own & in_use:
            continue
        kept = frozenset(own) or _with_their_memory(tensors, view, later_views[0], in_use)
        kept = frozenset(tensor for tensor in kept if has[tensor] not in used)
        if kept:
            names = _names_of(view, address, before)
            found.append(_replaced(names, later_views[0], has, kept, frozenset(), "ended"))
    return found


def _replaced(
    names: tuple[str, str],
    after: View,
    memory: Mapping[int, int],
    parameters: frozenset[int],
    modules: frozenset[int],
    went: Literal["replaced", "to meta", "ended"],
) -> _Replaced:
    """The layer, by name and type, whose parameters have in the census `after` what they had before: their part of its
    `memory` by tensors."""
    kept = frozenset(memory[each] for each in parameters if each in memory)
    return _Replaced(*names, after.census.step, parameters, kept, modules, went)


def _same(had: Mapping[int, int], has: Mapping[int, int]) -> set[int]:
    """Addresses of tensors with the same memory in both."""
    return {tensor for tensor, memory in had.items() if has.get(tensor) == memory}


def _names_of(view: View, module: int, before: Iterable[Place]) -> tuple[str, str]:
    """What a module goes by, its class's name where nothing else names it, and its type."""
    names = sorted({place.name for place in before if place.child == module} - {"self"})
    type_name = view.graph.type_names[int(np.flatnonzero(view.census.nodes.address == module)[0])]
    return (names[0] if names else type_name.rpartition(".")[2]), type_name


def _modules_of(view: View) -> set[int]:
    return _addresses(view, np.array(module_nodes(view.graph), dtype=np.int64))


def _with_their_memory(tensors: set[int], view: View, after: View, in_use: Collection[int]) -> frozenset[int]:
    """The tensors, and all others with the memory of one, that have it still; none whose memory one in use has.

    A freed tensor's address may be another's afterwards: it is the same where its memory is.
    """
    had, has = _memory_by_tensor(view), _memory_by_tensor(after)
    memory = {had[tensor] for tensor in tensors if tensor in had}
    still = {tensor for tensor, its in had.items() if its in memory and has.get(tensor) == its}
    busy = {had[tensor] for tensor in still.intersection(in_use)}
    return frozenset(tensor for tensor in still if had[tensor] not in busy)


def _memory_by_tensor(view: View) -> dict[int, int]:
    """Which storage is a tensor's, by the tensor's address."""
    references, identity = view.census.references, view.graph.identity_of_storage
    own = references.kind == ReferenceKind.STORAGE
    tensors = view.census.nodes.address[references.source[own]].tolist()
    return {tensor: identity[storage] for tensor, storage in zip(tensors, references.target[own].tolist(), strict=True)}


def _places_on_meta(view: View, places: Iterable[Place]) -> set[tuple[int, str]]:
    """Owner and name of the places whose tensor has no memory."""
    empty = _without_memory(view)
    return {(place.owner, place.name) for place in places if place.child in empty}


def _without_memory(view: View) -> set[int]:
    """Addresses of tensors that no storage is known of, as those on meta."""
    references = view.census.references
    tensors = np.flatnonzero(view.census.nodes.kind == NodeKind.TENSOR)
    with_memory = references.source[references.kind == ReferenceKind.STORAGE]
    return _addresses(view, np.setdiff1d(tensors, with_memory))


def _named(view: View) -> frozenset[int]:
    """Addresses of tensors that a variable or an attribute stands for."""
    graph, references = view.graph, view.census.references
    tensors = np.flatnonzero(view.census.nodes.kind == NodeKind.TENSOR)
    named = [
        node
        for node in tensors.tolist()
        if any(references.kind[r] in _VARIABLES or attribute_name(graph, r) for r in graph.references_to(node))
    ]
    return frozenset(_addresses(view, np.array(named, dtype=np.int64)))


def _children_of(places: Iterable[Place]) -> dict[int, set[int]]:
    below: dict[int, set[int]] = {}
    for place in places:
        below.setdefault(place.owner, set()).add(place.child)
    return below


def _all_inside(later: Sequence[frozenset[Place]], tops: set[int]) -> set[int]:
    below = _children_of(place for each in later for place in each)
    return {inside for top in tops for inside in all_below(below, top)}


def _addresses(view: View, nodes: Ints) -> set[int]:
    return set(view.census.nodes.address[nodes].tolist())


def _is_used(later: Sequence[View], replaced: _Replaced) -> bool:
    """A layer may be called up to the moment when it gives way, and so in the first of the censuses; a layer that the
    program itself calls is in use, unless it is on meta."""
    first = set() if replaced.went == "to meta" else called_at(later[0].graph, CALLED)
    called = first.union(*(called_at(view.graph) for view in later[1:]))
    return any(replaced.parameters & _in_use(view) for view in later) or bool(replaced.modules & called)


def _in_use(view: View) -> set[int]:
    """Addresses of tensors that an optimizer has or a graph leads to; all there are where a graph goes on out of
    sight."""
    graph, references, nodes = view.graph, view.census.references, view.census.nodes
    if bool(((nodes.flags & GRAPH_CONTINUES) != 0).any()):
        return _addresses(view, np.arange(graph.size))
    by_graph = references.target[np.isin(references.kind, _USED_BY_GRAPH)]
    owned = references.source[(references.kind == ReferenceKind.STORAGE) & np.isin(references.target, by_graph)]
    optimizers = np.flatnonzero(reach(graph, np.array(optimizer_nodes(graph), dtype=np.int64)))
    return _addresses(view, np.concatenate([by_graph, owned, optimizers]))


def _suspect(ordered: Sequence[View], group: Sequence[_Replaced]) -> Suspect | None:
    last, first = ordered[-1], group[0]
    addresses = frozenset().union(*(replaced.parameters for replaced in group))
    identities = frozenset().union(*(replaced.memory for replaced in group))
    memory = _memory(last, addresses, identities)
    size = int(last.graph.bytes_of_node[memory].sum())
    if size < max(LEAST_BYTES, LEAST_SHARE * int(last.census.storages.bytes.sum())):
        return None
    alive = [_memory(view, addresses, identities) for view in ordered]
    suspect = assemble_suspect(
        Group(last, memory, memory),
        symptom="survivor",
        measured=Measured(
            series=series_of_nodes(last.census.moment, ordered, alive),
            facts={
                "released": first.name,
                "released_step": first.step,
                "module": first.type_name,
                **({"replaced": len(group)} if first.went == "replaced" else {}),
                **({"weights_only": True, IDLE_FROM: first.step + 1} if first.went == "ended" else {}),
            },
        ),
        fingerprint=fingerprint_of(f"{_WORDS[first.went]} {first.type_name} {first.name}"),
    )
    return told_by_holder(suspect)


def _memory(view: View, addresses: frozenset[int], identities: frozenset[int]) -> Ints:
    """Those of these storages that are these tensors', parameters or not any more, and that something holds."""
    references = view.census.references
    tensors = np.flatnonzero(np.isin(view.census.nodes.address, sorted(addresses)))
    own = (references.kind == ReferenceKind.STORAGE) & np.isin(references.source, tensors)
    nodes = np.unique(references.target[own])
    identity, row_of, roles = view.graph.identity_of_storage, view.graph.storage_row, view.census.storages.role
    kept = [
        node
        for node in nodes.tolist()
        if identity[node] in identities
        and roles[row_of[node]] != Role.OPTIMIZER_STATE
        and view.paths.held_by_root(node)
    ]
    return np.array(kept, dtype=np.int64)
