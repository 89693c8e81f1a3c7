"""Who holds what was to be freed, asked of a census of this process."""

from __future__ import annotations

import posixpath
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from tenure.analysis.heap.cuts import find_cut
from tenure.analysis.heap.graph import Graph, build_graph, reach
from tenure.analysis.heap.holders import (
    Droppable,
    find_droppable,
    holding_reference,
    innermost_droppable,
    ring_reference,
)
from tenure.analysis.heap.islands import Island, find_islands
from tenure.analysis.heap.paths import Paths, path_to, shortest_paths
from tenure.analysis.heap.wording import expression, render_path, render_targets
from tenure.capture.heap.census import take_census
from tenure.model.heap import Ints, ReferenceKind
from tenure.model.suspect import HoldingReference
from tenure.release.commit import ONE_AT_A_TIME
from tenure.release.cut_graph import shown_bytes
from tenure.release.outcome import Survivor
from tenure.release.storage_refs import StorageRef

_MOST_NAMES = 8
_RING = "nothing that is alive leads there: a ring through C++ objects, which the collector cannot free"
_WAITING = "nothing that is alive leads there: a ring that waits for the garbage collector"
_UNSEEN = "no object in Python that is alive leads to it: a kept graph saved it, or a ring waits for the collector"
_NATIVE = "C++ code alone (a graph's far end, a reducer, a captured graph): no object in Python leads there"


class Verification:
    """One census of this process, and what it says of storages and objects by address.

    Costs the census (one to two collections) and some microseconds per object in it.
    """

    def __init__(self) -> None:
        with ONE_AT_A_TIME:
            census = take_census(step=0, moment="request")
        self.notes = census.notes
        self._graph: Graph = build_graph(census)
        self._paths: Paths = shortest_paths(self._graph)

    def survivors(self, storages: Iterable[StorageRef], *, collected: bool = True) -> tuple[Survivor, ...]:
        """The storages of these that are still alive, by the reference that holds them; most bytes first.

        `collected` says that garbage was collected before, so that what nothing leads to is not just waiting.
        """
        by_address: dict[int, Followed] = {storage.address: storage for storage in storages if storage.is_alive}
        return self._survivors(by_address, self._graph.census.storages.node, _RING if collected else _WAITING)

    def holders(self, tensors: Iterable[tuple[str, weakref.ref[torch.Tensor]]]) -> tuple[Survivor, ...]:
        """Those of the tensors that are alive, each with what a person calls it, by the reference that holds the
        tensor itself, with its graph: others may well have its memory."""
        followed = (HeldTensor.of(name, reference()) for name, reference in tensors)
        by_address: dict[int, Followed] = {each.address: each for each in followed if each is not None}
        return self._survivors(by_address, np.arange(self._graph.size), _UNSEEN)

    def rings(self) -> tuple[Survivor, ...]:
        """What nothing alive leads to and lives by itself, ring by ring, with a reference to cut; most bytes first.
        After a collection those are rings that the collector cannot free."""
        found = [self._ring(island) for island in find_islands(self._graph) if len(island.storages)]
        return tuple(sorted(found, key=lambda survivor: (-survivor.bytes, survivor.what)))

    def _ring(self, island: Island) -> Survivor:
        graph = self._graph
        storages = graph.census.storages
        rows = np.flatnonzero(np.isin(storages.node, island.storages))
        around = render_path(graph, island.ring)
        return Survivor(
            what=f"a ring of {island.signature}",
            device=graph.census.text(int(storages.device[rows[0]])),
            bytes=int(storages.bytes[rows].sum()),
            num_storages=len(rows),
            path=(_RING, *around[1:]),
            targets=("", *render_targets(graph, island.ring)[1:]),
            cut=tuple(describe_holder(ring_reference(graph, cut)) for cut in (island.cut, *island.others)),
        )

    def _survivors(self, by_address: Mapping[int, Followed], among: Ints, unreached: str) -> tuple[Survivor, ...]:
        nodes = self._nodes(by_address, among)
        held = nodes[[self._paths.reached(node) for node in nodes.tolist()]] if len(nodes) else nodes
        cut = find_cut(self._graph, self._paths, held) if len(held) else ()
        found = [self._survivor(group, cut, by_address) for group in self._groups(held, cut)]
        seen = self._graph.census.nodes.address[nodes].tolist()
        reached = set(self._graph.census.nodes.address[held].tolist())
        found += _nameless([by_address[address] for address in seen if address not in reached], unreached)
        found += _nameless([by_address[address] for address in by_address.keys() - set(seen)], _NATIVE)
        return tuple(sorted(found, key=lambda survivor: (-survivor.bytes, survivor.what)))

    def names_of(self, objects: Collection[int], *, inside: Collection[int]) -> tuple[str, ...]:
        """References from outside to objects (ids), readable, each name once. `inside` are all that belong together:
        how they refer to each other is not told."""
        graph, references = self._graph, self._graph.census.references
        nodes = self._nodes(objects, np.arange(graph.size))
        below = reach(graph, self._nodes(inside, np.arange(graph.size)))
        found: dict[str, int] = {}
        for node in nodes.tolist():
            for reference in graph.references_to(node):
                source = int(references.source[reference])
                if not below[source] and self._paths.held_by_root(source):
                    text = self._name(reference)
                    found[text] = found.get(text, 0) + 1
        texts = [f"{text} ({count} times)" if count > 1 else text for text, count in sorted(found.items())]
        return (*texts[:_MOST_NAMES], *([f"{len(texts) - _MOST_NAMES} more names"] if len(texts) > _MOST_NAMES else []))

    def _nodes(self, addresses: Collection[int], among: Ints) -> Ints:
        known = np.array(sorted(addresses), dtype=np.int64)
        found: Ints = among[np.isin(self._graph.census.nodes.address[among], known)]
        return found

    def _name(self, reference: int) -> str:
        graph = self._graph
        path = (*path_to(graph, self._paths, int(graph.census.references.source[reference])), reference)
        parts = render_path(graph, path)
        whole = expression(graph, path)
        if len(parts) < 2 or not whole:
            return "".join(parts)
        return f"`{whole}`, from {parts[0]}"

    def _groups(self, nodes: Ints, cut: Sequence[Droppable]) -> list[list[int]]:
        """Storages whose paths run over the same reference of the cut; without one, over the last one droppable."""
        by_reference = {dropped.reference: dropped for dropped in cut if dropped.container < 0}
        by_container = {dropped.container: dropped for dropped in cut if dropped.container >= 0}
        droppable, sources = find_droppable(self._graph), self._graph.census.references.source
        groups: dict[Droppable, list[int]] = {}
        for node in nodes.tolist():
            path = path_to(self._graph, self._paths, node)
            found = (by_reference.get(r) or by_container.get(int(sources[r])) for r in path)
            key = next((dropped for dropped in found if dropped is not None), None)
            key = key or (innermost_droppable(self._graph, droppable, path, ()) if path else Droppable(-1))
            groups.setdefault(key, []).append(node)
        return list(groups.values())

    def _survivor(self, group: Sequence[int], cut: Sequence[Droppable], known: Mapping[int, Followed]) -> Survivor:
        graph = self._graph
        storages = [known[int(graph.census.nodes.address[node])] for node in group]
        at = max(range(len(group)), key=lambda number: storages[number].bytes)
        path = path_to(graph, self._paths, group[at])
        return Survivor(
            what=_what([storages[at].name, *(storage.name for storage in storages)]),
            device=storages[at].device,
            bytes=sum(storage.bytes for storage in storages),
            num_storages=len(storages),
            path=render_path(graph, path),
            targets=render_targets(graph, path),
            cut=self._cut_of(group, cut, path),
        )

    def _cut_of(self, group: Sequence[int], cut: Sequence[Droppable], path: tuple[int, ...]) -> tuple[str, ...]:
        """Those references of the cut that lead to the group; where there is no cut, the last on its path."""
        graph = self._graph
        leading = [dropped for dropped in cut if self._leads_to(dropped, group)]
        droppable = find_droppable(graph)
        if not leading and any(droppable[reference] for reference in path):
            leading = [innermost_droppable(graph, droppable, path, ())]
        return tuple(dict.fromkeys(self._drop_text(dropped) for dropped in leading))

    def _drop_text(self, dropped: Droppable) -> str:
        """What to drop; of a tensor that is held for its value's sake, what else would do."""
        graph, references = self._graph, self._graph.census.references
        holder = holding_reference(graph, self._paths, dropped)
        made = graph.references_from(int(references.target[dropped.reference]))
        has_graph = any(references.kind[reference] == ReferenceKind.GRAD_FN for reference in made)
        is_tensor = dropped.container < 0 and has_graph
        return describe_holder(holder) + (f" or keep `{holder.expression}.detach()` alone" if is_tensor else "")

    def _leads_to(self, dropped: Droppable, group: Sequence[int]) -> bool:
        graph = self._graph
        start = dropped.container
        if start < 0:
            start = int(graph.census.references.target[dropped.reference])
        below = reach(graph, np.array([start], dtype=np.int64))
        return bool(below[np.array(group, dtype=np.int64)].any())


@dataclass(frozen=True)
class HeldTensor:
    """One tensor object by its id, with the bytes that it shows."""

    address: int
    device: str
    bytes: int
    name: str

    @classmethod
    def of(cls, name: str, tensor: torch.Tensor | None) -> HeldTensor | None:
        """None for a tensor that is gone."""
        return None if tensor is None else cls(id(tensor), str(tensor.device), shown_bytes(tensor), name)


Followed = StorageRef | HeldTensor


def describe_holder(reference: HoldingReference) -> str:
    """`state` in main (train.py:12); `self.cache[*]` of Trainer."""
    text = f"`{reference.expression or reference.name}`"
    file = posixpath.basename(reference.scope_file.replace("\\", "/"))
    place = f"{file}:{reference.scope_line}" if reference.scope_line else file
    function = reference.scope_function if reference.scope_function != "<module>" else ""
    if function and file:
        return f"{text} in {function} ({place})"
    return f"{text} ({place})" if file else text


def _nameless(storages: Sequence[Followed], holder: str) -> list[Survivor]:
    """What the census shows no path to, by device."""
    found = []
    for device in sorted({storage.device for storage in storages}):
        here = [storage for storage in storages if storage.device == device]
        names = _what([storage.name for storage in here])
        found.append(Survivor(names, device, sum(each.bytes for each in here), len(here), path=(holder,)))
    return found


def _what(names: Sequence[str]) -> str:
    others = len(set(names)) - 1
    return names[0] + (f" and {others} more" if others else "")
