"""What is carried into the forward: memory of the step before that is still bound while the next one runs."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.cuts import alive_seeds, freed_storages, removed_by
from tenure.analysis.heap.graph import ELEMENT_REFERENCES, reach, unquoted
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, is_bounded
from tenure.analysis.heap.held_group import Group, belong_together, cut_of
from tenure.analysis.heap.holders import Droppable, find_droppable, innermost_droppable
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import identities, is_on, storage_rows
from tenure.analysis.heap.wording import expression
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import Series, Suspect

SIGNIFICANT_BYTES = 64 * 1024
SIGNIFICANT_SHARE = 0.01
"""Of all live tensor bytes on the device. Plain outputs must reach both limits: every loop carries a little.
Memory behind an autograd graph, which no one means to carry, must reach one of them."""
LEAST_WITHOUT = 3
"""So many entries of a model's show what its layers keep for themselves."""
BATCH_SHARE = 0.05
"""Leaves of a kept graph, and what no forward made, are mostly a last batch that waits for the next one, or for an
evaluation to end: told only from this share on."""
SEEN_SHARE = 0.5
"""Of the forward entries with the model of the last one: in at least so many the group must be there."""
PAIRS = 2
WEIGHTY_SHARE = 0.01
"""Of the heaviest storage that a holder carries: what is lighter need not be freed by the cut."""
REMADE_PAIRS = 2
"""So many times the memory must have been replaced by other memory in the same place: a data set or an average of
the weights stays what it is."""
REMADE_SHARE = 0.5
"""Of the bytes: with fewer known again from the census before, memory counts as replaced."""
OUTLASTS_A_STEP = "outlasts_a_step"
"""The fact that a whole step leaves what is carried as it is."""
NEVER_REMADE = "never_remade"
"""The fact that it looked like the same memory at all entries: that of a graph, or it would not be told at all."""

_Storage = tuple[int, set[tuple[int, int]]]
"""Bytes and identities, see `View.known_by`."""
_LAST_ITEM = re.compile(r"(\[[^][]*\])+$")


@dataclass(frozen=True)
class _Place:
    """One holder at one forward entry, with the storages that were carried in by it."""

    key: str
    nodes: Ints
    in_graph: bool
    on_a_layer: bool = False
    """Reached by the table of a module's parts: an attribute of one of them has it."""


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
    places = [_find_places(view, by_step.get(view.census.step), shapes, skipped) for view in entries]
    lasting = _lasting_keys(entries, places)
    begins = _first_of_the_last_model(entries)
    left = _left_on_layers(places, begins)
    seen: dict[str, list[int]] = {}
    for at, (view, found) in enumerate(zip(entries, places, strict=True)):
        told = {key: place for key, place in found.items() if key not in lasting or place.in_graph or key in left}
        for key in _significant_keys(view, told):
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
    places = {key: each for key, each in _find_places(last, ends[-2], shapes, skipped).items() if each.in_graph}
    known = frozenset().union(*(suspect.storages for suspect in told))
    keys = [key for key in _significant_keys(last, places) if known.isdisjoint(identities(last, places[key].nodes))]
    groups = _merge_aliases([last], [places], keys, np.empty(0, dtype=np.int64), skipped)
    found = (_suspect([last], [places], group, members, ends=ends, lasting=set(members)) for group, members in groups)
    return tuple(
        dataclasses.replace(suspect, facts=suspect.facts | {OUTLASTS_A_STEP: True})
        for suspect in found
        if suspect.through_graph and not suspect.graph_freed
    )


def _is_seen_often(seen: Sequence[int], places: Sequence[dict[str, _Place]], key: str, begins: int) -> bool:
    """In at least half of the entries since the model `begins`; of those since the key's first, where it is a graph,
    which nobody means to carry, or what hooks of an explanation every few steps leave on layers."""
    unmeant = all(places[at][key].in_graph or places[at][key].on_a_layer for at in seen)
    since = seen[0] if unmeant else min(begins, seen[0])
    return len(seen) >= max(2, SEEN_SHARE * (len(places) - since))


def _left_on_layers(places: Sequence[dict[str, _Place]], begins: int) -> set[str]:
    """Holders on layers of a model that had been called without them before, and that have them to the end: what hooks
    of an explanation or a generation left there once. What a layer keeps for itself it makes at its first calls."""
    first: dict[str, int] = {}
    for at, found in enumerate(places):
        for key in found:
            first.setdefault(key, at)
    layers = {key for found in places for key, place in found.items() if place.on_a_layer}
    return {key for key in layers & places[-1].keys() if first[key] - begins >= LEAST_WITHOUT}


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


def _find_places(view: View, end: View | None, shapes: Shapes, skipped: set[int]) -> dict[str, _Place]:
    """Storages made by an earlier step, by holder."""
    storages = view.census.storages
    carried = np.isin(storages.role, (Role.ACTIVATION, Role.OTHER)) & _on_main_device(view)
    carried &= np.array([view.paths.held_by_root(node) for node in storages.node.tolist()], dtype=bool)
    if end is not None:
        carried &= _was_there(view, end)
    else:
        carried &= storages.role == Role.ACTIVATION
    by_shape: dict[int, list[int]] = {}
    for node in storages.node[carried].tolist():
        shape = int(view.shape[node])
        if shape not in skipped:
            by_shape.setdefault(shape, []).append(node)
    found: dict[str, list[tuple[int, list[int]]]] = {}
    on_layers: set[str] = set()
    droppable = find_droppable(view.graph)
    for shape, nodes in by_shape.items():
        path = path_to(view.graph, view.paths, nodes[0])
        if _is_fed_by_loader(view, path) or (shapes.graph[shape] < 0 and _is_in_window(view, path)):
            continue
        held_by = innermost_droppable(view.graph, droppable, path, ())
        upto = path[: path.index(held_by.reference) + 1]
        start = shapes.text(_root_shape(shapes, shape))
        key = f"{start} {expression(view.graph, upto)}"
        found.setdefault(key, []).append((shape, nodes))
        if any(unquoted(view.graph.labels[reference]) == "_modules" for reference in upto):
            on_layers.add(key)
    return {
        key: _Place(
            key=key,
            nodes=np.array(sorted(node for _, nodes in parts for node in nodes), dtype=np.int64),
            in_graph=any(shapes.graph[shape] >= 0 for shape, _ in parts),
            on_a_layer=key in on_layers,
        )
        for key, parts in found.items()
    }


def _on_main_device(view: View) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Where the parameters are on an accelerator, host memory is no part of its peak."""
    storages = view.census.storages
    devices = {view.census.text(d) for d in np.unique(storages.device[storages.role == Role.PARAMETER]).tolist()}
    if not devices or devices == {"cpu"}:
        return np.ones(len(storages.node), dtype=bool)
    return np.asarray(~is_on(view.census, "cpu"), dtype=bool)


def _was_there(view: View, end: View) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    before = {identity for identities in _identities_by_row(end) for identity in identities}
    return np.array([not before.isdisjoint(found) for found in _identities_by_row(view)], dtype=bool)


def _identities_by_row(view: View) -> list[set[tuple[int, int]]]:
    return [view.known_by(node) for node in view.census.storages.node.tolist()]


def _is_fed_by_loader(view: View, path: tuple[int, ...]) -> bool:
    """The next batches wait in a data loader: the future, not the past."""
    sources = view.census.references.source
    return any(view.graph.type_names[int(sources[r])].startswith("torch.utils.data.") for r in path)


def _is_in_window(view: View, path: tuple[int, ...]) -> bool:
    """An element of a container that states a bound and keeps it: the last few outputs, meant to be there."""
    references = view.census.references
    elements = [r for r in path if references.kind[r] in ELEMENT_REFERENCES]
    containers = {int(references.source[r]) for r in elements}
    return any(not view.graph.instance_tables[node] and is_bounded(view, node) for node in containers)


def _lasting_keys(entries: Sequence[View], places: Sequence[dict[str, _Place]]) -> set[str]:
    """Holders whose memory is mostly the same from census to census."""
    known: dict[str, list[list[_Storage]]] = {}
    for view, found in zip(entries, places, strict=True):
        for key, place in found.items():
            known.setdefault(key, []).append(_heaviest_storages(view, place.nodes))
    lasting = set()
    for key, history in known.items():
        remade = sum(_is_remade_by_weight(before, after) for before, after in pairwise(history))
        if remade < min(REMADE_PAIRS, max(1, len(history) - 1)):
            lasting.add(key)
    return lasting


def _heaviest_storages(view: View, nodes: Ints) -> list[_Storage]:
    sizes, row_of = view.census.storages.bytes, view.graph.storage_row
    heavy = sorted(nodes.tolist(), key=lambda node: -int(sizes[row_of[node]]))
    return [(int(sizes[row_of[node]]), view.known_by(node)) for node in heavy[:8]]


def _is_remade_by_weight(before: Sequence[_Storage], after: Sequence[_Storage]) -> bool:
    """Whether most bytes are others: a small object often lies where a freed one of its size lay."""
    known = {identity for _, identities in before for identity in identities}
    same = sum(num_bytes for num_bytes, identities in after if not known.isdisjoint(identities))
    return same < REMADE_SHARE * sum(num_bytes for num_bytes, _ in after)


def _significant_keys(view: View, places: dict[str, _Place]) -> list[str]:
    """Holders that weigh enough; the items of one container are weighed together, and the light ones left out."""
    containers: dict[str, list[_Place]] = {}
    for key, place in places.items():
        containers.setdefault(_LAST_ITEM.sub("", key), []).append(place)
    found = []
    for name, members in containers.items():
        nodes = np.unique(np.concatenate([place.nodes for place in members]))
        together = _Place(name, nodes, any(place.in_graph for place in members))
        if _is_significant(view, together):
            weights = [int(view.graph.bytes_of_node[place.nodes].sum()) for place in members]
            found += [p.key for p, size in zip(members, weights, strict=True) if size >= WEIGHTY_SHARE * max(weights)]
    return found


def _is_significant(view: View, place: _Place) -> bool:
    bytes_of, live = view.graph.bytes_of_node, int(view.census.storages.bytes.sum())
    size, share = int(bytes_of[place.nodes].sum()), SIGNIFICANT_SHARE * live
    if place.in_graph:
        batch = int(bytes_of[[node for node in place.nodes.tolist() if _is_leaf_input(view, node)]].sum())
        size -= batch if batch < BATCH_SHARE * live else 0
        return size >= min(SIGNIFICANT_BYTES, share)
    made_by_forward = bool((view.census.storages.role[storage_rows(view, place.nodes)] == Role.ACTIVATION).any())
    return size >= SIGNIFICANT_BYTES and size >= (share if made_by_forward else BATCH_SHARE * live)


def _is_leaf_input(view: View, storage: int) -> bool:
    """The storage of a leaf that a graph leads to, or of its gradient."""
    references, kinds = view.census.references, view.census.nodes.kind
    path = path_to(view.graph, view.paths, storage)
    return any(
        references.kind[r] == ReferenceKind.NEXT and kinds[references.target[r]] == NodeKind.TENSOR for r in path
    )


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
    entries: Sequence[View], places: Sequence[dict[str, _Place]], keys: Sequence[str], passing: Ints, told: set[int]
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


def _is_newest_element(group: Group, place: _Place, told: set[int]) -> bool:
    """As long as the containers and graphs that are told to grow stay as they are, next to nothing of the place is
    freed."""
    view, graph = group.view, group.view.graph
    growing = [
        dropped
        for dropped in group.cut or ()
        if _gains_elements(view, dropped.container, told) or _leads_to_growing_graph(view, dropped, told)
    ]
    if not growing:
        return False
    others = [dropped for dropped in group.cut or () if dropped not in growing]
    still = reach(graph, alive_seeds(graph), without=removed_by(graph, others))
    return not _is_significant(view, dataclasses.replace(place, nodes=place.nodes[~still[place.nodes]]))


def _gains_elements(view: View, container: int, told: set[int]) -> bool:
    references = view.census.references
    return container >= 0 and any(
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
    places: Sequence[dict[str, _Place]],
    group: Group,
    keys: Sequence[str],
    *,
    ends: Sequence[View],
    lasting: set[str],
) -> Suspect:
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
            facts=_lasting_facts(entries, per_view, ends) | ({NEVER_REMADE: True} if lasting.issuperset(keys) else {}),
        ),
        fingerprint=fingerprint_of("carried " + " + ".join(sorted(keys))),
    )


def _lasting_facts(entries: Sequence[View], nodes: Sequence[Ints], ends: Sequence[View]) -> dict[str, object]:
    """Whether most of it was the same at the entries of two steps that follow each other, or at an entry and the next
    step's end that was looked at."""
    storages = [_heaviest_storages(view, found) for view, found in zip(entries, nodes, strict=True)]
    outlasts = any(
        after.census.step - before.census.step == 1 and bool(one) and bool(two) and not _is_remade_by_weight(one, two)
        for (before, after), (one, two) in zip(pairwise(entries), pairwise(storages), strict=True)
    ) or any(_is_there_later(view, held, ends) for view, held in zip(entries, storages, strict=True) if held)
    return {OUTLASTS_A_STEP: True} if outlasts else {}


def _is_there_later(entry: View, held: Sequence[_Storage], ends: Sequence[View]) -> bool:
    later = next((end for end in ends if end.census.step > entry.census.step), None)
    return later is not None and not _is_remade_by_weight([(0, set().union(*_identities_by_row(later)))], held)


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


def _root_shape(shapes: Shapes, shape: int) -> int:
    lineage = shapes.lineage(shape)
    return lineage[-1] if lineage else shape
