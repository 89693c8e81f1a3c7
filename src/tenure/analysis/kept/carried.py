"""What is carried into the forward: memory of the step before that is still bound while the next one runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.cuts import alive_without, freed_storages
from tenure.analysis.heap.graph import ELEMENT_REFERENCES, reach
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of
from tenure.analysis.heap.held_group import Group, belong_together, cut_of
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import identities
from tenure.analysis.kept.carried_places import (
    WEIGHTY_SHARE,
    HolderAtEntry,
    Storage,
    find_places,
    heaviest_storages,
    identities_by_row,
    is_remade_by_weight,
    is_significant,
    lasting_keys,
    left_on_layers,
    significant_keys,
)
from tenure.analysis.kept.piled_hooks import by_piled_hooks
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import HOOKS_PER_STEP, Series, Suspect

SEEN_SHARE = 0.5
"""Of the forward entries with the model of the last one: in at least so many the group must be there."""
PAIRS = 2
OUTLASTS_A_STEP = "outlasts_a_step"
"""The fact that a whole step leaves what is carried as it is."""
NEVER_REMADE = "never_remade"
"""The fact that it looked like the same memory at all entries: that of a graph, or it would not be told at all."""


def find_carried(
    entries: Sequence[View], ends: Sequence[View], shapes: Shapes, *, growing: Collection[int] = ()
) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak", one for all aliases of the same memory.

    `entries` are censuses at the forward's entry, `ends` those at the end of a step, `growing` shapes that are
    accounted for already. Neither parameters, buffers, gradients, optimizer state nor inputs count.
    """
    if len(entries) < 2:
        return ()
    skipped = _below(shapes, growing)
    by_step = {view.census.step: view for view in ends}
    places = [find_places(view, by_step.get(view.census.step), shapes, skipped) for view in entries]
    lasting = lasting_keys(entries, places)
    begins = _first_of_the_last_model(entries)
    left = left_on_layers(places, begins)
    seen: dict[str, list[int]] = {}
    for at, (view, found) in enumerate(zip(entries, places, strict=True)):
        told = {key: place for key, place in found.items() if key not in lasting or place.in_graph or key in left}
        for key in significant_keys(view, told):
            seen.setdefault(key, []).append(at)
    keys = [key for key, at in seen.items() if _is_seen_often(at, places, key, begins)]
    groups = _merge_aliases(entries, places, keys, _passing_shapes(entries), skipped)
    return tuple(
        _suspect(entries, places, _less(group, skipped), members, ends=ends, lasting=lasting)
        for group, members in groups
    )


def find_left_with_graphs(
    ends: Sequence[View], shapes: Shapes, *, growing: Collection[int] = (), told: Collection[Suspect] = ()
) -> tuple[Suspect, ...]:
    """The same of graphs that the run's last two censuses at a step's end both found, whole steps apart, where no entry
    showed them: what an evaluation late in a short run leaves until the next one. Never more than possible.

    None of what is `told` already, nor graphs that backward went through.
    """
    if len(ends) < 2 or ends[-1].census.step - ends[-2].census.step < 2:
        return ()
    last, skipped = ends[-1], _below(shapes, growing)
    places = {key: each for key, each in find_places(last, ends[-2], shapes, skipped).items() if each.in_graph}
    known = frozenset().union(*(suspect.storages for suspect in told))
    keys = [key for key in significant_keys(last, places) if known.isdisjoint(identities(last, places[key].nodes))]
    groups = _merge_aliases([last], [places], keys, np.empty(0, dtype=np.int64), skipped)
    found = (_suspect([last], [places], group, members, ends=ends, lasting=set(members)) for group, members in groups)
    return tuple(
        dataclasses.replace(suspect, facts=suspect.facts | {OUTLASTS_A_STEP: True})
        for suspect in found
        if suspect.through_graph and not suspect.graph_freed
    )


def _is_seen_often(seen: Sequence[int], places: Sequence[dict[str, HolderAtEntry]], key: str, begins: int) -> bool:
    """In at least half of the entries since the model `begins`; of those since the key's first, where it is a graph,
    which nobody means to carry, or what hooks of an explanation every few steps leave on layers."""
    unmeant = all(places[at][key].in_graph or places[at][key].on_a_layer for at in seen)
    since = seen[0] if unmeant else min(begins, seen[0])
    return len(seen) >= max(2, SEEN_SHARE * (len(places) - since))


def _first_of_the_last_model(entries: Sequence[View]) -> int:
    """The first entry with a parameter that is there at the last one, too: before, another model was in training, as
    in a warm-up, and nothing of this one could be carried. 0 where the last has none."""
    parameters = [_parameters(view) for view in entries]
    return next((at for at, found in enumerate(parameters) if found & parameters[-1]), 0)


def _parameters(view: View) -> set[tuple[int, int]]:
    storages = view.census.storages
    rows = storages.role == Role.PARAMETER
    identities = view.census.storage_identities[rows].tolist()
    return set(zip(identities, storages.bytes[rows].tolist(), strict=True))


def _passing_shapes(entries: Sequence[View]) -> Ints:
    """Shapes of objects that are other objects from one forward entry to the next, wherever two follow each other;
    of those that no such two have, as in a later stage, between all entries, where there are two pairs or more."""
    passing: set[int] = set()
    followed: set[int] = set()
    changed: dict[int, list[bool]] = {}
    for before, after in pairwise(entries):
        shapes = _shapes_of_objects(after)
        if after.census.step - before.census.step == 1:
            passing |= {shape for shape in shapes if _is_remade(before, after, shape)}
            followed |= shapes & _shapes_of_objects(before)
        else:
            for shape in shapes & _shapes_of_objects(before):
                changed.setdefault(shape, []).append(_is_remade(before, after, shape))
    late = {shape for shape, each in changed.items() if shape not in followed and len(each) >= PAIRS and all(each)}
    return np.array(sorted(passing | late), dtype=np.int64)


def _shapes_of_objects(view: View) -> set[int]:
    shapes = np.unique(view.shape[view.census.nodes.kind == NodeKind.OBJECT])
    return set(shapes[shapes >= 0].tolist())


def _is_remade(before: View, after: View, shape: int) -> bool:
    first, second = (set(view.census.nodes.address[view.shape == shape].tolist()) for view in (before, after))
    return bool(first) and first.isdisjoint(second)


def _merge_aliases(
    entries: Sequence[View],
    places: Sequence[dict[str, HolderAtEntry]],
    keys: Sequence[str],
    passing: Ints,
    told: set[int],
) -> list[tuple[Group, list[str]]]:
    """Holders whose cuts share a reference hold the same memory, and variables of one function go in one line: one
    group each, with a cut for all of it. A variable for the newest element of what is `told` to grow is none."""
    at = next((i for i in range(len(entries) - 1, -1, -1) if any(key in places[i] for key in keys)), -1)
    groups: list[tuple[Group, list[str]]] = []
    pending = [([key], places[at][key].nodes) for key in sorted(keys) if at >= 0 and key in places[at]]
    for members, nodes in pending:
        group = _with_cut(entries[at], nodes, passing)
        if _is_newest_element(group, places[at][members[0]], told):
            continue
        for other, names in list(groups):
            if belong_together(group, other):
                groups.remove((other, names))
                members = [*names, *members]
                group = _with_cut(entries[at], np.union1d(group.nodes, other.nodes), passing)
        groups.append((group, members))
    return groups


def _is_newest_element(group: Group, place: HolderAtEntry, told: set[int]) -> bool:
    """As long as the containers and graphs that are told to grow stay as they are, next to nothing of the place is
    freed."""
    view = group.view
    growing = [
        dropped
        for dropped in group.cut or ()
        if _gains_elements(view, _container_of(view, dropped), told) or _leads_to_growing_graph(view, dropped, told)
    ]
    if not growing:
        return False
    others = [dropped for dropped in group.cut or () if dropped not in growing]
    still = alive_without(group.view.graph, others)
    return not is_significant(view, dataclasses.replace(place, nodes=place.nodes[~still[place.nodes]]))


def _container_of(view: View, dropped: Droppable) -> int:
    """The container that loses its elements, or that the reference leads to: with one element it is no crowd yet."""
    return dropped.container if dropped.container >= 0 else int(view.census.references.target[dropped.reference])


def _gains_elements(view: View, container: int, told: set[int]) -> bool:
    references = view.census.references
    return any(
        references.kind[r] in ELEMENT_REFERENCES and int(view.shape[references.target[r]]) in told
        for r in view.graph.references_from(container)
    )


def _leads_to_growing_graph(view: View, dropped: Droppable, told: set[int]) -> bool:
    """A tensor whose graph gains nodes with every step, as a moving average has it, or a container of such tensors."""
    references = view.census.references
    others = ~np.isin(references.kind, (*ELEMENT_REFERENCES, ReferenceKind.GRAD_FN))
    starts = references.target[[dropped.reference]] if dropped.container < 0 else np.array([dropped.container])
    entered = reach(view.graph, starts, without=others) & (view.census.nodes.kind == NodeKind.AUTOGRAD)
    return bool(told) and bool(np.isin(view.shape[entered], sorted(told)).any())


def _with_cut(view: View, nodes: Ints, passing: Ints) -> Group:
    """The group with its cut; a scalar that shares a holder with megabytes is not worth another name to drop."""
    objects = frozenset(np.flatnonzero(np.isin(view.shape, passing)).tolist())
    sizes = view.graph.bytes_of_node[nodes]
    group = Group(view, nodes, nodes[sizes >= WEIGHTY_SHARE * sizes.max()], passing=objects)
    return dataclasses.replace(group, cut=cut_of(group))


def _less(group: Group, told: set[int]) -> Group:
    """The group, whose cut does not count what else it frees of shapes that are `told` as growing."""
    if not group.cut or not told:
        return group
    freed = freed_storages(group.view.graph, group.cut)
    return dataclasses.replace(group, freed=freed[~np.isin(group.view.shape[freed], sorted(told))])


def _suspect(
    entries: Sequence[View],
    places: Sequence[dict[str, HolderAtEntry]],
    group: Group,
    keys: Sequence[str],
    *,
    ends: Sequence[View],
    lasting: set[str],
) -> Suspect:
    group, hooks_per_step = by_piled_hooks(group, entries)
    view = group.view
    per_view = [
        np.concatenate([np.empty(0, dtype=np.int64), *(found[key].nodes for key in keys if key in found)])
        for found in places
    ]
    graphs = [_graph_nodes(each, nodes) for each, nodes in zip(entries, per_view, strict=True)]
    series = Series(
        moment=view.census.moment,
        steps=tuple(each.census.step for each in entries),
        bytes=tuple(int(e.graph.bytes_of_node[nodes].sum()) for e, nodes in zip(entries, per_view, strict=True)),
        objects=tuple(len(nodes) for nodes in per_view),
        graph_nodes=tuple(len(found) for found in graphs),
    )
    nodes = np.union1d(group.nodes, _graph_nodes(view, group.nodes))
    with_graph = Group(view, nodes, group.targets, cut=group.cut, freed=group.freed)
    return assemble_suspect(
        with_graph,
        symptom="peak",
        measured=Measured(
            series=series,
            facts=_lasting_facts(entries, per_view, ends)
            | ({NEVER_REMADE: True} if lasting.issuperset(keys) else {})
            | ({HOOKS_PER_STEP: hooks_per_step} if hooks_per_step else {}),
        ),
        fingerprint=fingerprint_of("carried " + " + ".join(sorted(keys))),
    )


def _lasting_facts(entries: Sequence[View], nodes: Sequence[Ints], ends: Sequence[View]) -> dict[str, object]:
    """Whether most of it was the same at the entries of two steps that follow each other, or at an entry and the next
    step's end that was looked at."""
    storages = [heaviest_storages(view, found) for view, found in zip(entries, nodes, strict=True)]
    outlasts = any(
        after.census.step - before.census.step == 1 and bool(one) and bool(two) and not is_remade_by_weight(one, two)
        for (before, after), (one, two) in zip(pairwise(entries), pairwise(storages), strict=True)
    ) or any(_is_there_later(view, held, ends) for view, held in zip(entries, storages, strict=True) if held)
    return {OUTLASTS_A_STEP: True} if outlasts else {}


def _is_there_later(entry: View, held: Sequence[Storage], ends: Sequence[View]) -> bool:
    later = next((end for end in ends if end.census.step > entry.census.step), None)
    return later is not None and not is_remade_by_weight([(0, set().union(*identities_by_row(later)))], held)


def _graph_nodes(view: View, storages: Ints) -> Ints:
    """Autograd nodes that the storages' paths run through, and all others of the same shape."""
    shapes = {int(view.shape[node]) for node in _on_path_nodes(view, storages)}
    in_graph = view.census.nodes.kind == NodeKind.AUTOGRAD
    return np.flatnonzero(in_graph & np.isin(view.shape, sorted(shapes)))


def _on_path_nodes(view: View, storages: Ints) -> set[int]:
    found: set[int] = set()
    kinds, sources = view.census.nodes.kind, view.census.references.source
    shapes_done: set[int] = set()
    for node in storages.tolist():
        if int(view.shape[node]) in shapes_done:
            continue
        shapes_done.add(int(view.shape[node]))
        path = path_to(view.graph, view.paths, node)
        found.update(int(sources[r]) for r in path if kinds[int(sources[r])] == NodeKind.AUTOGRAD)
        owner = int(sources[path[-1]]) if path else -1
        found.update(
            int(view.census.references.target[r])
            for r in (view.graph.references_from(owner) if owner >= 0 else ())
            if view.census.references.kind[r] == ReferenceKind.GRAD_FN
        )
    return found


def _below(shapes: Shapes, tops: Collection[int]) -> set[int]:
    below = set(tops)
    for shape in range(len(shapes.parent)):
        if shapes.parent[shape] in below:
            below.add(shape)
    return below
