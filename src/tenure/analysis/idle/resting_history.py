"""What one name held over a run's censuses: the same memory all the time, or other memory of its kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Graph, build_graph, object_of, reach, unquoted
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import Census, Ints, Role
from tenure.model.suspect import Series

Memory = frozenset[tuple[int, int]]
"""Address and bytes of storages."""
LATE_AFTER = 4
"""Censuses of one moment without the memory: until then a program may still be getting under way."""
_MOMENTS = ("forward-entry", "step-end")


@dataclass(frozen=True)
class Name:
    """A reference as it is found again in another census: its kind, its label and the type of its owner."""

    kind: int
    label: str
    owner_type: str

    @classmethod
    def of(cls, graph: Graph, reference: int) -> Name:
        """The name of one reference."""
        references = graph.census.references
        label = attribute_name(graph, reference) or graph.labels[reference]
        return cls(
            int(references.kind[reference]),
            label,
            graph.type_names[object_of(graph, int(references.source[reference]))],
        )

    def find(self, graph: Graph) -> Ints:
        """Nodes that references of this name lead to."""
        references = graph.census.references
        wanted = np.flatnonzero(np.isin(references.label, _labels(graph.census, self.label)))
        same = [r for r in wanted[references.kind[wanted] == self.kind].tolist() if Name.of(graph, r) == self]
        return np.unique(references.target[same])


@dataclass(frozen=True)
class History:
    """What a name held at the censuses of one moment."""

    series: Series
    from_start: bool
    """The memory asked for was there in the run's first census, and in each up to the one it was asked in."""
    times_replaced: int
    """Between how many censuses all of the memory under the name became other memory."""

    @property
    def came_late(self) -> bool:
        """Whether the first censuses found nothing under the name, and all of them as much from one of them on."""
        empty = next((at for at, size in enumerate(self.series.bytes) if size), 0)
        return empty >= LATE_AFTER and len(set(self.series.bytes[empty:])) == 1


def follow(
    censuses: Sequence[Census],
    names: Collection[Name],
    memory: Memory,
    *,
    step: int,
    roles: Sequence[Role] = (Role.OTHER,),
) -> History | None:
    """The history of names, and of `memory` that they held in `step`, of these roles; None where no census saw them.

    Costs an index of each census and a search in it.
    """
    at_work = [census for census in censuses if census.moment != "exit"]
    moment = max(_MOMENTS, key=lambda moment: sum(census.moment == moment for census in at_work))
    ordered = sorted((census for census in at_work if census.moment == moment), key=lambda census: census.step)
    held = [_held(census, names, roles) for census in ordered]
    if not any(held):
        return None
    before = [census for census in at_work if census.step < step]
    series = Series(
        moment=moment,
        steps=tuple(census.step for census in ordered),
        bytes=tuple(sum(size for _, size in memory) for memory in held),
        objects=tuple(map(len, held)),
        graph_nodes=(0,) * len(ordered),
    )
    return History(
        series=series,
        from_start=bool(before) and all(memory <= memory_of(census) for census in before),
        times_replaced=_count_replaced(held),
    )


def _count_replaced(held: Iterable[Memory]) -> int:
    return sum(bool(one and other and one.isdisjoint(other)) for one, other in pairwise(held))


def _held(census: Census, names: Collection[Name], roles: Sequence[Role]) -> Memory:
    """Storages of these roles that references of the names lead to, by no graph."""
    graph = build_graph(census)
    targets = np.unique(np.concatenate([name.find(graph) for name in names]))
    if not len(targets):
        return frozenset()
    storages = census.storages
    return _memory(census, np.intersect1d(storages_below(graph, targets), storages.node[np.isin(storages.role, roles)]))


def storages_below(graph: Graph, nodes: Ints) -> Ints:
    """Storages that nodes lead to, by no graph."""
    references, storages = graph.census.references, graph.census.storages.node
    found: Ints = storages[reach(graph, nodes, without=np.isin(references.kind, GRAPH_REFERENCES))[storages]]
    return found


def memory_of(census: Census) -> Memory:
    """All of a census's storages."""
    return _memory(census, census.storages.node)


def _memory(census: Census, nodes: Ints) -> Memory:
    rows = np.isin(census.storages.node, nodes)
    addresses = census.nodes.address[census.storages.node[rows]].tolist()
    return frozenset(zip(addresses, census.storages.bytes[rows].tolist(), strict=True))


def _labels(census: Census, label: str) -> list[int]:
    """Positions of the strings that read so, quoted or not."""
    return [number for number, text in enumerate(census.strings) if unquoted(text) == label or text == label]
