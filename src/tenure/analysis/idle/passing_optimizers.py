"""Optimizers that go on stepping and pass some of their parameters by, and those that stop with all that they have: of
phases that are over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import Droppable, find_droppable
from tenure.analysis.heap.modules import references_to_submodules
from tenure.analysis.heap.optimizers import LEAST_STEP_ENDS, memory_of, optimizer_nodes, parameters_of, with_gradient
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role


def passed_by(views: Sequence[View]) -> Bools:
    """Per reference of the last census: an optimizer has a parameter by it, in its groups or as a key of its state,
    that got no gradient by the end of any step that was looked at, in which others of the same optimizer got theirs.

    No reference is where fewer than three steps' ends were looked at, or one that left no gradients.
    """
    last = views[-1]
    references, kinds = last.census.references, last.census.nodes.kind
    found = np.zeros(len(references.kind), dtype=bool)
    trained = [with_gradient(view) for view in views if view.census.moment == "step-end"]
    if len(trained) < LEAST_STEP_ENDS:
        return found
    to_tensors = np.asarray(kinds[references.target] == NodeKind.TENSOR)
    addresses = last.census.nodes.address[references.target]
    never = ~np.isin(addresses, sorted(frozenset().union(*trained)))
    for optimizer in optimizer_nodes(last.graph):
        tables = reach(last.graph, np.array([optimizer]), without=to_tensors)
        own = to_tensors & tables[references.source]
        mine = frozenset(addresses[own].tolist())
        if all(mine & each for each in trained):
            found |= own & never
    return found


def stopped_with(view: View, resting: Iterable[Ints]) -> frozenset[int]:
    """Optimizers all of whose parameters are memory of modules that rest, where another one has others."""
    graph, storages = view.graph, view.census.storages
    at_rest = np.zeros(len(graph.bytes_of_node), dtype=bool)
    for memory in resting:
        at_rest[memory] = True
    without = np.isin(view.census.references.kind, (*GRAPH_REFERENCES, ReferenceKind.HOOK))
    parameters = storages.node[storages.role == Role.PARAMETER]
    trains = {
        node: parameters[reach(graph, np.array([node]), without=without)[parameters]] for node in optimizer_nodes(graph)
    }
    stopped = frozenset(node for node, own in trains.items() if len(own) and bool(at_rest[own].all()))
    goes_on = any(len(own) and node not in stopped for node, own in trains.items())
    return stopped if goes_on else frozenset()


def names_of_modules(view: View, modules: Collection[int]) -> tuple[Droppable, ...]:
    """The references of the program by which it has modules, those of other modules among them."""
    named = find_droppable(view.graph) | references_to_submodules(view.graph, modules)
    found = (reference for module in sorted(modules) for reference in view.graph.references_to(module))
    return tuple(Droppable(reference) for reference in found if named[reference])


def with_state(view: View, memory: Ints) -> Ints:
    """Storages of parameters with those of their gradients and of what optimizers keep for them."""
    tensors, references = parameters_of(view), view.census.references
    stores = (references.kind == ReferenceKind.STORAGE) & np.isin(references.target, memory)
    return np.union1d(memory, memory_of(view.graph, np.intersect1d(tensors, references.source[stores])))
