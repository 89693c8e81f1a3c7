"""Objects on the way from a root to what idles at the peak: which is to be dropped whole, and which lives on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import is_element
from tenure.analysis.heap.paths import path_to
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Census, Ints, NodeKind, ReferenceKind
from tenure.model.source import SourceFile
from tenure.model.suspect import SUSPENDED_TYPES
from tenure.syntax.text.later_reads import outlives_turns

FEWEST_CENSUSES = 3
_Link = tuple[int, str, int]
"""Address of an object, what leads on from it, and the address where that leads."""
_LISTS = ("list", "collections.deque")


@dataclass(frozen=True)
class Owners:
    """Objects on the way to idle storages."""

    spent: frozenset[int]
    """Those that lead to nothing which the step's statements use after the peak, and are the step's own: a person drops
    the variable that stands for such a record, not an attribute of it."""
    lists: frozenset[int]
    """Lists that live on from step to step, an entry of which is to be dropped."""


def find_owners(
    replay: Replay,
    rows: Iterable[int],
    between: Sequence[Census],
    sources: Mapping[str, SourceFile] = MappingProxyType({}),
) -> Owners:
    """Of a suspended function the variable inside is to be dropped, of an object that lives on from step to step, or
    was made before the loop of its variable's function, an attribute. A list several of whose entries idle is emptied.
    Costs a search per object."""
    view = replay.view
    references, kinds, types = view.census.references, view.census.nodes.kind, view.graph.type_names
    ways = [path_to(view.graph, view.paths, replay.node_of_row[row]) for row in rows]
    owners = {int(references.source[reference]) for way in ways for reference in way}
    lasting = _living_on(view, ways, between) | _made_before_loops(view, ways, sources)
    lasting -= _with_several_entries(view, ways)
    in_graph = np.isin(references.kind, GRAPH_REFERENCES)
    spent = (
        node
        for node in owners - lasting
        if kinds[node] == NodeKind.OBJECT
        and types[node].rpartition(".")[2] not in SUSPENDED_TYPES
        and _is_spent_record(view, replay, node, in_graph)
    )
    return Owners(frozenset(spent), frozenset(node for node in lasting if types[node] in _LISTS))


def _living_on(view: View, ways: Iterable[Sequence[int]], between: Sequence[Census]) -> set[int]:
    """What an object, a class or a module has led to by the same name at the same address in all censuses since it was
    seen there first, three and more: what each step makes anew alternates between addresses, for it is made before the
    old one goes. What a function's variable stands for may be made anew each time at the same."""
    kinds, references = view.census.nodes.kind, view.census.references
    steps = {reference for way in ways for reference in way if kinds[references.source[reference]] != NodeKind.FRAME}
    links = dict(zip(sorted(steps), _links(view.census, sorted(steps)), strict=True))
    sources = np.array([source for source, _, _ in links.values()], dtype=np.int64)
    present = [_links_from(each, sources) for each in between if each.step < view.census.step]
    found = set()
    for reference, link in links.items():
        seen = [link in each for each in present]
        if sum(seen) >= FEWEST_CENSUSES and all(seen[seen.index(True) :]):
            found.add(int(references.target[reference]))
    return found


def _made_before_loops(view: View, ways: Iterable[Sequence[int]], sources: Mapping[str, SourceFile]) -> set[int]:
    """Objects of variables that no turn of the loop binds which their function runs: a meter that each step fills."""
    references, nodes = view.census.references, view.census.nodes
    found = set()
    for variable in {way[0] for way in ways if way}:
        frame, target = int(references.source[variable]), int(references.target[variable])
        source = sources.get(view.census.text(int(nodes.file[frame])))
        is_variable = references.kind[variable] == ReferenceKind.LOCAL and nodes.kind[frame] == NodeKind.FRAME
        if source is None or not is_variable or nodes.kind[target] != NodeKind.OBJECT:
            continue
        function, name = view.census.text(int(nodes.name[frame])), view.graph.labels[variable]
        if outlives_turns(source, function, name, int(nodes.line[frame])):
            found.add(target)
    return found


def _links_from(census: Census, sources: Ints) -> set[_Link]:
    references = census.references
    chosen = np.flatnonzero(np.isin(census.nodes.address[references.source], sources))
    return set(_links(census, chosen.tolist()))


def _links(census: Census, chosen: Sequence[int]) -> Iterator[_Link]:
    addresses, references = census.nodes.address, census.references
    for reference in chosen:
        source, target = int(references.source[reference]), int(references.target[reference])
        yield int(addresses[source]), census.text(int(references.label[reference])), int(addresses[target])


def _with_several_entries(view: View, ways: Iterable[Sequence[int]]) -> set[int]:
    """Containers by several of whose entries the ways go on: to empty them is one thing to do."""
    references, entries = view.census.references, defaultdict[int, set[int]](set)
    for way in ways:
        for reference in way:
            if is_element(view.graph, reference):
                entries[int(references.source[reference])].add(reference)
    return {container for container, each in entries.items() if len(each) > 1}


def _is_spent_record(view: View, replay: Replay, node: int, in_graph: Bools) -> bool:
    reached = reach(view.graph, np.array([node]), without=in_graph)
    storages = view.census.storages.node
    found = [replay.row_of_node.get(storage) for storage in storages[reached[storages]].tolist()]
    return all(row is not None and replay.is_spent(row) for row in found)
