"""Records that are made anew in each step: a batch, a model's output. A field of one goes by the record's own name."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.assemble import Group, describe_reference
from tenure.analysis.heap.graph import GRAPH_REFERENCES, is_builtin_type, object_of, reach
from tenure.analysis.heap.groups import View
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
