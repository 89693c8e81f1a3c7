"""What is carried by the last of many hooks: each step registers more, of which only the newest hold memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import GRAPH_REFERENCES, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import ReferenceKind

FEWEST_CENSUSES = 3
LEAST_PER_STEP = 0.5
_NEWEST = 4
"""Entries of a table that are looked at, from its end."""


def by_piled_hooks(group: Group, views: Sequence[View]) -> tuple[Group, float]:
    """The group with tables of hooks as its cut, and how many hooks the one that gains most does per step, where all of
    its memory is reached by tables that gained some from each of the censuses `views` to the next; the group as it is,
    and 0, elsewhere.

    Functions that hold no memory are in no census: of a table the length alone tells that they pile up. Costs a few
    searches per table that gains.
    """
    if not all(_goes_by_hooks(group.view, node) for node in group.targets.tolist()):
        return group, 0.0
    gains = _tables_that_gain(group.view, views)
    cut = _entries_that_lead_to(group, gains)
    freed = freed_storages(group.view.graph, cut)
    if not cut or not np.isin(group.targets, freed).all():
        return group, 0.0
    return dataclasses.replace(group, cut=cut, freed=freed), max(gains[each.container] for each in cut)


def _goes_by_hooks(view: View, node: int) -> bool:
    way = path_to(view.graph, view.paths, node)
    return any(view.graph.hook_tables[view.census.references.source[each]] for each in way)


def _tables_that_gain(view: View, views: Sequence[View]) -> dict[int, float]:
    gains = {table: _gained_per_step(view, table, views) for table in np.flatnonzero(view.graph.hook_tables).tolist()}
    return {table: gained for table, gained in gains.items() if gained >= LEAST_PER_STEP}


def _entries_that_lead_to(group: Group, tables: Iterable[int]) -> tuple[Droppable, ...]:
    """All entries of each table one of whose newest leads to the group's memory, told by that one."""
    graph, references = group.view.graph, group.view.census.references
    in_graph = np.isin(references.kind, GRAPH_REFERENCES)
    found = []
    for table in tables:
        entries = [each for each in graph.references_from(table) if references.kind[each] == ReferenceKind.ITEM]
        newest = (int(each) for each in entries[: -_NEWEST - 1 : -1])
        leads = (
            each for each in newest if reach(graph, references.target[[each]], without=in_graph)[group.targets].any()
        )
        entry = next(leads, None)
        found += [] if entry is None else [Droppable(entry, container=table)]
    return tuple(found)


def _gained_per_step(view: View, table: int, views: Sequence[View]) -> float:
    """Entries that a table gained per step between the censuses that found it; 0 unless some came each time."""
    address = view.census.nodes.address[table]
    seen = [(each.census.step, length) for each in views if (length := _length(each, address)) >= 0]
    steps = seen[-1][0] - seen[0][0] if seen else 0
    if not steps or len(seen) < FEWEST_CENSUSES or any(later <= earlier for (_, earlier), (_, later) in pairwise(seen)):
        return 0.0
    return (seen[-1][1] - seen[0][1]) / steps


def _length(view: View, address: int) -> int:
    nodes = view.census.nodes
    found = np.flatnonzero((nodes.address == address) & view.graph.hook_tables)
    return int(nodes.length[found[0]]) if len(found) else -1
