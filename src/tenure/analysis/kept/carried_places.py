"""Who carries what into a forward: places by holder, which of them weigh enough, and which keep the same memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.graph import ELEMENT_REFERENCES, unquoted
from tenure.analysis.heap.groups import Shapes, View, is_bounded
from tenure.analysis.heap.holders import find_droppable, innermost_droppable
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import is_on, storage_rows
from tenure.analysis.heap.wording import expression
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role

SIGNIFICANT_BYTES = 64 * 1024
SIGNIFICANT_SHARE = 0.01
"""Of all live tensor bytes on the device. Plain outputs must reach both limits: every loop carries a little.
Memory behind an autograd graph, which no one means to carry, must reach one of them."""
LEAST_WITHOUT = 3
"""So many entries of a model's show what its layers keep for themselves."""
BATCH_SHARE = 0.05
"""Leaves of a kept graph, and what no forward made, are mostly a last batch that waits for the next one, or for an
evaluation to end: told only from this share on."""
WEIGHTY_SHARE = 0.01
"""Of the heaviest storage that a holder carries: what is lighter need not be freed by the cut."""
REMADE_PAIRS = 2
"""So many times the memory must have been replaced by other memory in the same place: a data set or an average of
the weights stays what it is."""
REMADE_SHARE = 0.5
"""Of the bytes: with fewer known again from the census before, memory counts as replaced."""
Storage = tuple[int, set[tuple[int, int]]]
"""Bytes and identities, see `View.known_by`."""
_LAST_ITEM = re.compile(r"(\[[^][]*\])+$")


@dataclass(frozen=True)
class HolderAtEntry:
    """One holder at one forward entry, with the storages that were carried in by it."""

    key: str
    nodes: Ints
    in_graph: bool
    on_a_layer: bool = False
    """Reached by the table of a module's parts: an attribute of one of them has it."""


def find_places(view: View, end: View | None, shapes: Shapes, skipped: set[int]) -> dict[str, HolderAtEntry]:
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
        if _is_fed_by_loader(view, path) or (shapes.graph[shape] < 0 and _is_in_window(view, nodes[0])):
            continue
        held_by = innermost_droppable(view.graph, droppable, path, ())
        upto = path[: path.index(held_by.reference) + 1]
        start = shapes.text(_root_shape(shapes, shape))
        key = f"{start} {expression(view.graph, upto)}"
        found.setdefault(key, []).append((shape, nodes))
        if any(unquoted(view.graph.labels[reference]) == "_modules" for reference in upto):
            on_layers.add(key)
    return {
        key: HolderAtEntry(
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
    before = {identity for identities in identities_by_row(end) for identity in identities}
    return np.array([not before.isdisjoint(found) for found in identities_by_row(view)], dtype=bool)


def identities_by_row(view: View) -> list[set[tuple[int, int]]]:
    """What each storage of a census is known by, see `View.known_by`."""
    return [view.known_by(node) for node in view.census.storages.node.tolist()]


def _is_fed_by_loader(view: View, path: tuple[int, ...]) -> bool:
    """The next batches wait in a data loader: the future, not the past."""
    sources = view.census.references.source
    return any(view.graph.type_names[int(sources[r])].startswith("torch.utils.data.") for r in path)


def _is_in_window(view: View, storage: int) -> bool:
    """Of an element of a container that states a bound and keeps it: the last few outputs, meant to be there, whatever
    variable shares the newest of them."""
    references = view.census.references
    tensors = {int(references.source[r]) for r in view.graph.references_to(storage)}
    paths = [path_to(view.graph, view.paths, node) for node in (storage, *sorted(tensors))]
    elements = {r for path in paths for r in path if references.kind[r] in ELEMENT_REFERENCES}
    containers = {int(references.source[r]) for r in elements}
    return any(not view.graph.instance_tables[node] and is_bounded(view, node) for node in containers)


def significant_keys(view: View, places: dict[str, HolderAtEntry]) -> list[str]:
    """Holders that weigh enough; the items of one container are weighed together, and the light ones left out."""
    containers: dict[str, list[HolderAtEntry]] = {}
    for key, place in places.items():
        containers.setdefault(_LAST_ITEM.sub("", key), []).append(place)
    found = []
    for name, members in containers.items():
        nodes = np.unique(np.concatenate([place.nodes for place in members]))
        together = HolderAtEntry(name, nodes, any(place.in_graph for place in members))
        if is_significant(view, together):
            weights = [int(view.graph.bytes_of_node[place.nodes].sum()) for place in members]
            found += [p.key for p, size in zip(members, weights, strict=True) if size >= WEIGHTY_SHARE * max(weights)]
    return found


def is_significant(view: View, place: HolderAtEntry) -> bool:
    """Whether what a holder carries weighs enough to be told."""
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


def lasting_keys(entries: Sequence[View], places: Sequence[dict[str, HolderAtEntry]]) -> set[str]:
    """Holders whose memory is mostly the same from census to census."""
    known: dict[str, list[list[Storage]]] = {}
    for view, found in zip(entries, places, strict=True):
        for key, place in found.items():
            known.setdefault(key, []).append(heaviest_storages(view, place.nodes))
    lasting = set()
    for key, history in known.items():
        remade = sum(is_remade_by_weight(before, after) for before, after in pairwise(history))
        if remade < min(REMADE_PAIRS, max(1, len(history) - 1)):
            lasting.add(key)
    return lasting


def heaviest_storages(view: View, nodes: Ints) -> list[Storage]:
    """The eight heaviest of some storages, heaviest first."""
    sizes, row_of = view.census.storages.bytes, view.graph.storage_row
    heavy = sorted(nodes.tolist(), key=lambda node: -int(sizes[row_of[node]]))
    return [(int(sizes[row_of[node]]), view.known_by(node)) for node in heavy[:8]]


def is_remade_by_weight(before: Sequence[Storage], after: Sequence[Storage]) -> bool:
    """Whether most bytes are others: a small object often lies where a freed one of its size lay."""
    known = {identity for _, identities in before for identity in identities}
    same = sum(num_bytes for num_bytes, identities in after if not known.isdisjoint(identities))
    return same < REMADE_SHARE * sum(num_bytes for num_bytes, _ in after)


def left_on_layers(places: Sequence[dict[str, HolderAtEntry]], begins: int) -> set[str]:
    """Holders on layers of a model that had been called without them before, and that have them to the end: what hooks
    of an explanation or a generation left there once. What a layer keeps for itself it makes at its first calls."""
    first: dict[str, int] = {}
    for at, found in enumerate(places):
        for key in found:
            first.setdefault(key, at)
    layers = {key for found in places for key, place in found.items() if place.on_a_layer}
    return {key for key in layers & places[-1].keys() if first[key] - begins >= LEAST_WITHOUT}


def _root_shape(shapes: Shapes, shape: int) -> int:
    lineage = shapes.lineage(shape)
    return lineage[-1] if lineage else shape
