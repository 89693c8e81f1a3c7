"""What is carried by the last of many hooks: each step registers more, of which only the newest hold memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import GRAPH_REFERENCES, ancestors
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.held_group import Group, emptied

FEWEST_CENSUSES = 3
LEAST_PER_STEP = 0.5


def by_piled_hooks(group: Group, views: Sequence[View]) -> tuple[Group, float]:
    """The group with tables of hooks as its cut, and how many hooks the one that gains most does per step, where all of
    its memory is reached by tables that gained some from each of the censuses `views` to the next; the group as it is,
    and 0, elsewhere.

    Functions that hold no memory are in no census: of a table the length alone tells that they pile up. Costs two
    searches, and two more where a table gains.
    """
    tables = _tables_that_gain(group, views)
    cut = emptied(dataclasses.replace(group, many=frozenset(tables), cut=None))
    if not cut:
        return group, 0.0
    return dataclasses.replace(group, cut=cut, freed=freed_storages(group.view.graph, cut)), max(tables.values())


def _tables_that_gain(group: Group, views: Sequence[View]) -> dict[int, float]:
    """Of the tables of hooks that lead to the group's memory those that gain entries, with how many per step."""
    graph, references = group.view.graph, group.view.census.references
    above = ancestors(graph, group.targets, without=np.isin(references.kind, GRAPH_REFERENCES))
    tables = np.flatnonzero(graph.hook_tables & above).tolist()
    gains = {table: _gained_per_step(group.view, table, views) for table in tables}
    return {table: gained for table, gained in gains.items() if gained >= LEAST_PER_STEP}


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
