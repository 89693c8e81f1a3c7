"""Optimizers in a census: recognised by their tables, with what they have for each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph, labelled, object_of, own_references, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role

_USING = (ReferenceKind.GRAD_FN, ReferenceKind.NEXT, ReferenceKind.SAVED)
LEAST_STEP_ENDS = 3
"""Censuses at steps' ends, from which what an optimizer did meanwhile is told."""


def parameters_of(view: View) -> Ints:
    """Tensors whose memory is a parameter's."""
    references, storages = view.census.references, view.census.storages
    memory = storages.node[storages.role == Role.PARAMETER]
    found: Ints = references.source[(references.kind == ReferenceKind.STORAGE) & np.isin(references.target, memory)]
    return found


def optimizer_nodes(graph: Graph) -> list[int]:
    """Objects with parameter groups and a state of their own, as `torch.optim.Optimizer` has them."""
    references = graph.census.references
    named = np.flatnonzero(labelled(graph, ("param_groups",))).tolist()
    attributes = (reference for reference in named if attribute_name(graph, reference))
    return sorted({object_of(graph, int(references.source[reference])) for reference in attributes})


def state_tables(graph: Graph, optimizer: int) -> list[int]:
    """What an optimizer has as its `state`: one table, or none."""
    target = graph.census.references.target
    return [int(target[r]) for r in own_references(graph, optimizer) if attribute_name(graph, r) == "state"]


def state_entries(graph: Graph, optimizer: int) -> Iterator[tuple[int, int]]:
    """Each tensor that an optimizer keeps state for, and the reference from its table to that state: a dict's value is
    noted right before its key."""
    kinds, target = graph.census.references.kind, graph.census.references.target
    for table in state_tables(graph, optimizer):
        for value, key in pairwise(graph.references_from(table)):
            is_entry = kinds[value] == ReferenceKind.ITEM and kinds[key] == ReferenceKind.MEMBER
            if is_entry and graph.census.nodes.kind[target[key]] == NodeKind.TENSOR:
                yield int(target[key]), value


@dataclass(frozen=True)
class State:
    """What an optimizer keeps for one parameter, in one census."""

    reference: int
    """From the table of its state to what it keeps for the parameter."""
    parameter: int
    address: int
    """The parameter's."""
    storages: tuple[int, ...]
    looks: frozenset[tuple[int, int]]
    """Serial and version of each storage: the same in two censuses where nothing was written in between."""


def states_of(graph: Graph, optimizer: int) -> Iterator[State]:
    """Of tensors that can be told from others and that were written to."""
    for state in all_states_of(graph, optimizer):
        if all(serial and version for serial, version in state.looks):
            yield state


def all_states_of(graph: Graph, optimizer: int) -> Iterator[State]:
    """Also of tensors whose version counters say nothing, as after the steps of a fused optimizer."""
    for parameter, reference in state_entries(graph, optimizer):
        storages = _storages_in(graph, int(graph.census.references.target[reference]))
        looks = frozenset(_look(graph, storage) for storage in storages)
        if looks:
            yield State(reference, parameter, int(graph.census.nodes.address[parameter]), storages, looks)


def _storages_in(graph: Graph, value: int) -> tuple[int, ...]:
    """Of the tensors that a parameter's table of state has."""
    references = graph.census.references
    tensors = (int(references.target[r]) for r in graph.references_from(value))
    below = (r for tensor in tensors for r in graph.references_from(tensor))
    storages = {int(references.target[r]) for r in below if references.kind[r] == ReferenceKind.STORAGE}
    roles = graph.census.storages.role
    return tuple(sorted(each for each in storages if roles[graph.storage_row[each]] == Role.OPTIMIZER_STATE))


def _look(graph: Graph, storage: int) -> tuple[int, int]:
    row = graph.storage_row[storage]
    return int(graph.census.storages.serial[row]), int(graph.census.storages.version[row])


def stepped_no_more(views: Sequence[View], *, first: View | None = None) -> frozenset[int]:
    """Optimizers of the last census that have changed nothing since the first of these, while another one did.

    By version counters of their state, as `find_passed_state`. Of one without state by its parameters', where these
    had been raised since the run's `first` census: what is written through `.data` raises none.
    """
    ends = [view for view in views if view.census.moment == "step-end"]
    if len(ends) < LEAST_STEP_ENDS:
        return frozenset()
    before, now = frozenset(_looks(ends[0], first).values()), _looks(views[-1], first)
    stopped = frozenset(optimizer for optimizer, looks in now.items() if looks and looks in before)
    goes_on = any(looks and optimizer not in stopped for optimizer, looks in now.items())
    return stopped if goes_on else frozenset()


def _looks(view: View, first: View | None) -> dict[int, frozenset[tuple[int, int]]]:
    """By optimizer: serial and version of all storages of its state, the same where no step was made in between; or of
    its parameters, of those that have another one than in the `first` census."""
    graph = view.graph
    unraised = frozenset(_looks_of_parameters(first)) if first is not None else frozenset()
    found = {}
    for optimizer in optimizer_nodes(graph):
        looks = frozenset(look for state in states_of(graph, optimizer) for look in state.looks)
        if not looks and first is not None:
            looks = frozenset(_looks_of_parameters(view, optimizer)) - unraised
        found[optimizer] = looks
    return found


def _looks_of_parameters(view: View, optimizer: int | None = None) -> Iterator[tuple[int, int]]:
    """Serial and version of the storages of parameters, of those that an optimizer's groups lead to where one is
    given."""
    graph, references, storages = view.graph, view.census.references, view.census.storages
    using = np.isin(references.kind, (*_USING, ReferenceKind.GRAD, ReferenceKind.HOOK))
    mine = None if optimizer is None else reach(graph, np.array([optimizer]), without=using)
    for storage in storages.node[storages.role == Role.PARAMETER].tolist():
        if mine is None or mine[storage]:
            yield _look(graph, storage)


def with_gradient(view: View) -> frozenset[int]:
    """Addresses of the tensors that have a gradient."""
    references = view.census.references
    sources = references.source[references.kind == ReferenceKind.GRAD]
    return frozenset(view.census.nodes.address[sources].tolist())


def never_stepped(graph: Graph) -> Bools:
    """Per reference: an optimizer that keeps state has a parameter by it for which it keeps none, as of frozen ones:
    no step of it has changed that."""
    references, kinds = graph.census.references, graph.census.nodes.kind
    tensors = kinds[references.target] == NodeKind.TENSOR
    of_tensors = np.asarray((kinds[references.source] == NodeKind.TENSOR) | (references.kind == ReferenceKind.STORAGE))
    found = np.zeros(len(references.kind), dtype=bool)
    for optimizer in optimizer_nodes(graph):
        tables = {attribute_name(graph, r): int(references.target[r]) for r in own_references(graph, optimizer)}
        if not {"state", "param_groups"} <= tables.keys():
            continue
        keys = references.target[(references.source == tables["state"]) & (references.kind == ReferenceKind.MEMBER)]
        listed = reach(graph, np.array([tables["param_groups"]]), without=of_tensors)
        if len(keys):
            found |= tensors & listed[references.source] & ~of_tensors & ~np.isin(references.target, keys)
    return found


def memory_of(graph: Graph, parameters: Ints) -> Ints:
    """Storages of parameters, of their gradients, and of what optimizers keep for them."""
    references = graph.census.references
    seeds = set(parameters.tolist())
    for reference in np.flatnonzero((references.kind == ReferenceKind.MEMBER) & np.isin(references.target, parameters)):
        value = _value_of(graph, int(reference))
        if value >= 0:
            seeds.add(value)
    using: Bools = np.isin(references.kind, (*_USING, ReferenceKind.HOOK))
    below = reach(graph, np.array(sorted(seeds), dtype=np.int64), without=using)
    storages = graph.census.storages.node
    found: Ints = np.sort(storages[below[storages]])
    return found


def _value_of(graph: Graph, key: int) -> int:
    """The value of a key that is in the census: a dict's value is noted right before its key; -1 for a set's."""
    made = graph.references_from(int(graph.census.references.source[key]))
    at = made.index(key)
    value = made[at - 1] if at else key
    if graph.census.references.kind[value] != ReferenceKind.ITEM:
        return -1
    target = int(graph.census.references.target[value])
    return target if graph.census.nodes.kind[target] in (NodeKind.OBJECT, NodeKind.TENSOR) else -1
