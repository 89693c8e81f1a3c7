"""A model that gets new layers gives them to its optimizer: state that grows with parameters in use is no leak."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, Graph, ancestors, reach, unquoted
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.modules import all_below, children_of_modules, tables_of_parameters
from tenure.analysis.heap.optimizers import optimizer_nodes
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import CALLED, CALLED_BY_ANY, Ints, ReferenceKind, Role

LEAST_RISES = 3
"""Layers that came, one after the other, before what comes with them is known to."""


def is_training_more(view: View, members: Ints, containers: Collection[int]) -> bool:
    """Whether all that grows are an optimizer's entries for parameters, each of which somebody else holds as well, or
    the gradients of such: layers that take part from some step on.

    `containers` are those that gain the members as elements. A search of the census where they are an optimizer's own.
    """
    graph = view.graph
    optimizers = optimizer_nodes(graph)
    entries = bool(containers) and all(_keeps_entries(graph, container) for container in containers)
    if not optimizers or not (entries or _are_gradients(view, members)):
        return False
    held = _parameters(view)
    return len(held) > 0 and bool(np.all(_alive_without(graph, optimizers)[held]))


def is_growing_model(view: View, members: Ints, not_in_use: Ints) -> bool:
    """Whether the members are layers whose memory is parameters that an optimizer trains, and nothing else.

    `not_in_use` are the nodes below the members that nobody else uses. Models that each came with an optimizer of their
    own, and of which nobody calls the older ones, are one after another, not parts of one.
    """
    graph, storages = view.graph, view.census.storages
    optimizers = optimizer_nodes(graph)
    if not optimizers or np.isin(storages.node, not_in_use).any():
        return False
    parameters = storages.node[storages.role == Role.PARAMETER]
    own = parameters[reach(graph, members)[parameters]]
    if not len(own) or not np.all(reach(graph, np.array(optimizers))[own]):
        return False
    return not (_are_mostly_idle(view, members) and _have_one_each(view, members, optimizers, parameters))


def _are_mostly_idle(view: View, members: Ints) -> bool:
    """Calls were watched, and fewer than half of the members were called, or had anything called that they have."""
    graph, flags = view.graph, view.census.nodes.flags
    called = (flags & (CALLED | CALLED_BY_ANY)) != 0
    above = ancestors(graph, np.flatnonzero(called), without=np.isin(graph.census.references.kind, GRAPH_REFERENCES))
    return bool(called.any()) and 2 * int(np.count_nonzero(above[members])) < len(members)


def _have_one_each(view: View, members: Ints, optimizers: Sequence[int], parameters: Ints) -> bool:
    """No optimizer has parameters of two of the members."""
    graph = view.graph
    without = np.isin(graph.census.references.kind, (*GRAPH_REFERENCES, ReferenceKind.HOOK))
    of_members = [reach(graph, np.array([member]), without=without)[parameters] for member in members.tolist()]
    trained = (reach(graph, np.array([optimizer]), without=without)[parameters] for optimizer in optimizers)
    return all(sum(bool((own & each).any()) for own in of_members) <= 1 for each in trained)


def is_in_step(members: Ints, layers: Ints) -> bool:
    """Whether one count rises where another does and nowhere else, again and again."""
    one, other = np.diff(members), np.diff(layers)
    return int(np.count_nonzero(other > 0)) >= LEAST_RISES and bool(np.array_equal(one > 0, other > 0))


def trains_more(views: Sequence[View]) -> bool:
    """Whether optimizers that were there in the first census have ever more parameters of modules."""
    first, last = (_trained_by(view) for view in (views[0], views[-1]))
    return any(last.get(address, 0) > number for address, number in first.items())


def width_of_model(views: Sequence[View]) -> Ints | None:
    """Bytes of parameters per census of the module that has most of them in the last one, of those that were called: a
    head that is replaced by a wider one is of the model as a new layer is. None where it was not there from the first
    census on.

    Costs a search of each census, and one of the last for each module that was called and is in no other.
    """
    last = views[-1]
    children = children_of_modules(last.graph)
    outermost = set(children).difference(*children.values())
    called = [node for node in sorted(outermost) if last.census.nodes.flags[node] & (CALLED | CALLED_BY_ANY)]
    if not called:
        return None
    widest = max(called, key=lambda node: _bytes_of_parameters(last, all_below(children, node)))
    places = [np.flatnonzero(view.census.nodes.address == last.census.nodes.address[widest]) for view in views]
    if not all(map(len, places)):
        return None
    models = (all_below(children_of_modules(v.graph), int(at[0])) for v, at in zip(views, places, strict=True))
    return np.array([_bytes_of_parameters(view, modules) for view, modules in zip(views, models, strict=True)])


def _bytes_of_parameters(view: View, modules: Iterable[int]) -> int:
    """What modules have as parameters, not what else their attributes lead to: copies of models, for one."""
    graph, storages = view.graph, view.census.storages
    own = tables_of_parameters(graph, modules)
    without = np.isin(view.census.references.kind, (*GRAPH_REFERENCES, ReferenceKind.HOOK))
    inside = reach(graph, np.array(own, dtype=np.int64), without=without)[storages.node]
    return int(storages.bytes[inside & (storages.role == Role.PARAMETER)].sum())


def _trained_by(view: View) -> dict[int, int]:
    """For optimizers by address, of how many parameters in use they keep state."""
    graph, optimizers, held = view.graph, optimizer_nodes(view.graph), _parameters(view)
    in_use = held[_alive_without(graph, optimizers)[held]]
    return {
        int(view.census.nodes.address[node]): int(np.count_nonzero(reach(graph, np.array([node]))[in_use]))
        for node in optimizers
    }


def _parameters(view: View) -> Ints:
    storages = view.census.storages
    found: Ints = storages.node[storages.role == Role.PARAMETER]
    return found


def _alive_without(graph: Graph, optimizers: Sequence[int]) -> Bools:
    """Per node: it lives on without what these optimizers refer to."""
    inside = np.isin(graph.census.references.source, optimizers)
    return reach(graph, np.setdiff1d(graph.roots, optimizers), without=inside)


def is_only_used(view: View, members: Ints) -> bool:
    """Whether the members are parameters, gradients, optimizer state or inputs that live on without any graph.

    A graph that leads to them uses them and keeps none.
    """
    graph, storages = view.graph, view.census.storages
    references = view.census.references
    rows = _memory_of(view, members)
    if not rows.any() or np.any(storages.role[rows] > Role.INPUT):
        return False
    alive = reach(graph, graph.roots, without=np.isin(references.kind, GRAPH_REFERENCES))
    return bool(np.all(alive[members]))


def _are_gradients(view: View, members: Ints) -> bool:
    """Of parameters; those of inputs and the like, of which no optimizer knows, are somebody's to let go."""
    parents = view.paths.parent[members]
    if np.any(parents < 0):
        return False
    whose = np.unique(view.census.references.source[parents])
    return _have_role(view, members, Role.GRADIENT) and _have_role(view, whose, Role.PARAMETER)


def _have_role(view: View, tensors: Ints, role: Role) -> bool:
    """Whether the memory of tensors has one role all of it."""
    rows = _memory_of(view, tensors)
    return bool(rows.any()) and bool(np.all(view.census.storages.role[rows] == role))


def _memory_of(view: View, tensors: Ints) -> Bools:
    """Per storage: one of the tensors lies in it."""
    references = view.census.references
    return np.isin(view.census.storages.node, references.target[np.isin(references.source, tensors)])


def _keeps_entries(graph: Graph, container: int) -> bool:
    """An optimizer's `state`, its `param_groups`, or the `params` of a group: one entry for each parameter or group."""
    for reference in graph.references_to(container):
        name = attribute_name(graph, reference) or unquoted(graph.labels[reference])
        if name in ("state", "param_groups", "params"):
            return True
    return False
