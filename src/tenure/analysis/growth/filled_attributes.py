"""Objects that live on and get an attribute one after the other, as a value that is computed once and kept: what holds
the memory is that attribute of each, not the list in which the objects are."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.groups import View, owners_of
from tenure.analysis.heap.holders import Droppable, find_droppable
from tenure.model.heap import Ints, ReferenceKind

_SHARE_OF_OLD = 0.9
"""Of the objects: these were there a census before, the others may have been made meanwhile."""


def filled_attributes(view: View, before: View, members: Ints) -> tuple[Droppable, ...] | None:
    """The attributes by which the members are held, where each is that of another object and the objects were there
    `before`; None of all else."""
    references, graph = view.census.references, view.graph
    parents = view.paths.parent[members]
    if len(members) < 2 or np.any(parents < 0):
        return None
    by_table = (references.kind[parents] == ReferenceKind.ITEM) & graph.instance_tables[references.source[parents]]
    named = (references.kind[parents] == ReferenceKind.ATTRIBUTE) | by_table
    if not named.all() or not (find_droppable(graph) & graph.user_made)[parents].all():
        return None
    owners = np.where(by_table, owners_of(view, references.source[parents]), references.source[parents])
    known = np.isin(view.census.nodes.address[owners], before.census.nodes.address)
    if len(np.unique(owners)) < len(owners) or np.mean(known) < _SHARE_OF_OLD:
        return None
    return tuple(Droppable(int(reference)) for reference in parents)
