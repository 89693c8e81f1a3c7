"""Objects that live on and get an attribute one after the other, as a value that is computed once and kept: what holds
the memory is that attribute of each, not the list in which the objects are."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.graph import own_references
from tenure.analysis.heap.groups import View, owners_of
from tenure.analysis.heap.holders import Droppable, find_droppable
from tenure.model.heap import Ints, NodeKind, ReferenceKind

_SHARE_OF_OLD = 0.9
"""Of the objects: these were there a census before, the others may have been made meanwhile."""


def filled_attributes(view: View, before: View, members: Ints) -> tuple[Droppable, ...] | None:
    """The attributes by which the members are held, where each is that of another object and the objects were there
    `before`; or the attributes of the members, where these are no new elements; None of all else."""
    return _of_owners(view, before, members) or _of_old_elements(view, before, members)


def _of_owners(view: View, before: View, members: Ints) -> tuple[Droppable, ...] | None:
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


def _of_old_elements(view: View, before: View, members: Ints) -> tuple[Droppable, ...] | None:
    """Objects without memory are in no census: such elements of a container that is as long as before were there, as
    activation layers in a model, and have got some."""
    references, graph, nodes = view.census.references, view.graph, view.census.nodes
    parents = view.paths.parent[members]
    if len(members) < 2 or np.any(parents < 0) or np.any(nodes.kind[members] != NodeKind.OBJECT):
        return None
    containers = references.source[parents]
    lengths = dict(zip(before.census.nodes.address.tolist(), before.census.nodes.length.tolist(), strict=True))
    then = np.array([lengths.get(address, -1) for address in nodes.address[containers].tolist()])
    if np.mean((then > 0) & (then == nodes.length[containers])) < _SHARE_OF_OLD:
        return None
    to_tensors = find_droppable(graph) & (nodes.kind[references.target] == NodeKind.TENSOR)
    own = sorted(reference for member in members.tolist() for reference in own_references(graph, member))
    return tuple(Droppable(reference) for reference in own if to_tensors[reference]) or None
