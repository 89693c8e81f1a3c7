"""Objects that live on and get an attribute one after the other, as a value that is computed once and kept, and layers
of torch's own that are left with one: what holds the memory is that attribute of each, not the list in which the
objects or their models are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.analysis.heap.graph import object_of, own_references
from tenure.analysis.heap.groups import View, owners_of
from tenure.analysis.heap.holders import Droppable, find_droppable
from tenure.analysis.heap.storage_facts import storage_rows
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import Ints, NodeKind, ReferenceKind

_SHARE_OF_OLD = 0.9
"""Of the objects: these were there a census before, the others may have been made meanwhile."""
_SHARE_ON_LAYERS = 0.9
"""Of the bytes."""


@dataclass(frozen=True)
class Filled:
    """Attributes that objects which live on got one after the other."""

    cut: tuple[Droppable, ...]
    num_objects: int
    """How many elements the container of these objects has, with and without it; 0 where they lie in several."""


def filled_attributes(views: Sequence[View], shape: int) -> Filled | None:
    """The attributes by which the members of a shape are held in the last census, where each is that of another object
    and the objects were there in the one before; or the attributes of the members, where these are no new elements;
    None of all else."""
    view, members = views[-1], views[-1].members(shape)
    fewer = (each for each in reversed(views[:-1]) if len(each.members(shape)) < len(members))
    return _of_owners(view, views[-2], members) or _of_old_elements(view, next(fewer, views[-2]), members)


def _of_owners(view: View, before: View, members: Ints) -> Filled | None:
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
    return Filled(tuple(Droppable(int(reference)) for reference in parents), _num_beside(view, owners))


def _of_old_elements(view: View, before: View, members: Ints) -> Filled | None:
    """Objects without memory are in no census: such elements of a container that is as long as `before`, when fewer of
    them had any, were there, as activation layers in a model, and have got some."""
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
    cut = tuple(Droppable(reference) for reference in own if to_tensors[reference])
    return Filled(cut, _num_beside(view, members)) if cut else None


def _num_beside(view: View, objects: Ints) -> int:
    parents = view.paths.parent[objects]
    containers = np.unique(view.census.references.source[parents[parents >= 0]])
    return max(0, int(view.census.nodes.length[containers[0]])) if len(containers) == 1 else 0


def given_to_layers(view: View, nodes: Ints) -> tuple[Droppable, ...] | None:
    """The attributes of layers of torch's own, where nearly all that weighs among the `nodes` hangs on such: they have
    none with tensors by themselves, so that a hook or an explanation has set them and not deleted them."""
    references, storages, rows = view.census.references, view.census.storages, storage_rows(view, nodes)
    parents = view.paths.parent[owners_of(view, storages.node[rows])]
    given = np.array([parent >= 0 and _is_on_layer(view, parent) for parent in parents.tolist()], dtype=bool)
    sizes = storages.bytes[rows]
    if not len(rows) or int(sizes[given].sum()) < _SHARE_ON_LAYERS * int(sizes.sum()):
        return None
    droppable = find_droppable(view.graph)
    cut = [reference for reference in np.unique(parents[given]).tolist() if droppable[reference]]
    return tuple(map(Droppable, sorted(cut, key=lambda reference: int(references.label[reference])))) or None


def _is_on_layer(view: View, reference: int) -> bool:
    owner = object_of(view.graph, int(view.census.references.source[reference]))
    is_named = bool(attribute_name(view.graph, reference))
    return is_named and view.graph.type_names[owner].startswith("torch.nn.modules.")
