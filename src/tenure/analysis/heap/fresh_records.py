"""Records that are made anew in each step: a batch, a model's output. A field of one goes by the record's own name."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.assemble import describe_reference
from tenure.analysis.heap.graph import GRAPH_REFERENCES, is_builtin_type, object_of, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable, find_droppable, innermost_droppable
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import Ints, NodeKind, ReferenceKind
from tenure.model.suspect import HoldingReference


def name_of_record(view: View, group: Group, made: Ints) -> HoldingReference | None:
    """What a person calls the object whose attribute the group's first cut is, where all memory below it was `made`
    in the steps that were looked at; None where it is none, or has no name of its own."""
    graph, references = view.graph, view.census.references
    dropped = group.cut[0] if group.cut else None
    if dropped is None or dropped.container >= 0:
        return None
    owner = object_of(graph, int(references.source[dropped.reference]))
    is_object = view.census.nodes.kind[owner] == NodeKind.OBJECT and not is_builtin_type(graph.type_names[owner])
    if not is_object or references.kind[dropped.reference] not in (ReferenceKind.ITEM, ReferenceKind.ATTRIBUTE):
        return None
    below = reach(graph, np.array([owner]), without=np.isin(references.kind, GRAPH_REFERENCES))
    storages = view.census.storages.node
    path = path_to(graph, view.paths, owner)
    if not path or not np.isin(storages[below[storages]], made).all():
        return None
    name: Droppable = innermost_droppable(graph, find_droppable(graph) & graph.user_made, path, ())
    return describe_reference(view, name, ())


def fields_of_record(view: View, group: Group) -> tuple[tuple[HoldingReference, ...], ...]:
    """The attributes inside the record, the object in `group.passing` that the group's only cut drops whole, by which
    its memory goes, those of the heaviest first; none where it is no such record, or some of the memory has none.

    First the innermost ones, then, where what they belong to is a part of the record, what has that, to the outermost.
    """
    graph, references = view.graph, view.census.references
    if len(group.cut or ()) != 1 or group.cut is None or group.cut[0].container >= 0:
        return ()
    record = group.cut[0].reference
    if int(references.target[record]) not in group.passing:
        return ()
    droppable = find_droppable(graph) & graph.user_made
    ways = []
    for node in sorted(group.nodes.tolist(), key=lambda each: -int(graph.bytes_of_node[each])):
        path = path_to(graph, view.paths, node)
        inside = path[path.index(record) + 1 :] if record in path else ()
        ways.append([reference for reference in reversed(inside) if droppable[reference]])
    if not all(ways):
        return ()
    levels = ([way[min(level, len(way) - 1)] for way in ways] for level in range(max(map(len, ways), default=0)))
    return tuple(
        tuple(describe_reference(view, Droppable(reference), ()) for reference in dict.fromkeys(level))
        for level in levels
    )
