"""Modules that rest: called at first, then by nobody; the outermost of them, with what they weigh."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, Graph, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.modules import all_below, children_of_modules, parameter_tensors, references_to_submodules
from tenure.analysis.heap.optimizers import optimizer_nodes, stepped_no_more
from tenure.analysis.idle.passing_optimizers import stopped_with
from tenure.analysis.idle.rests import Rest, Window, count_steps, find_never_called, find_rest
from tenure.analysis.kept.named_modules import name_that_went
from tenure.model.heap import Ints, ReferenceKind

_PASSING = (*GRAPH_REFERENCES, ReferenceKind.GRAD, ReferenceKind.BASE)
_LISTS = ("torch.nn.modules.container.ModuleList", "torch.nn.modules.container.ModuleDict")
_TORCH = "torch."
_CALLING = ("torch.nn.modules.container.", "torch.nn.parallel.distributed.DistributedDataParallel")
"""Of torch's own modules with parts, those that call them. Others hand weights to fused operations, run in C++, or call
copies on other devices, as a transformer's layer, a scripted module and DataParallel do."""


@dataclass(frozen=True)
class RestingModule:
    """A module that rests, its memory, and the optimizers that rest with it."""

    node: int
    rest: Rest
    storages: Ints
    parameters: frozenset[tuple[int, int]]
    by_registry: Bools
    """References by which modules have it, or what is inside of it, among their submodules, and those to their hooks:
    calls tell who is in use, where calls inside modules were watched."""
    stopped: frozenset[int] = frozenset()
    """Optimizers that train nothing but modules that rest."""


def find_resting(ordered: Sequence[View], windows: Sequence[Window], unfinished: frozenset[int]) -> list[RestingModule]:
    """The outermost modules of the last census that rest, with the optimizers that train what rests alone, and those
    that no step of theirs has changed since it rests."""
    found = _outermost(ordered, windows, unfinished)
    stopped = stopped_with(ordered[-1], [resting.storages for resting in found]) if found else frozenset()
    later = {since: stepped_no_more(ordered[since:]) for since in {resting.rest.since for resting in found}}
    return [replace(resting, stopped=stopped | later[resting.rest.since]) for resting in found]


def reached_as_own(graph: Graph, module: int) -> Bools:
    """Per node: a module leads to it, not by a graph, a gradient or a view's base."""
    return reach(graph, np.array([module]), without=np.isin(graph.census.references.kind, _PASSING))


def _outermost(ordered: Sequence[View], windows: Sequence[Window], unfinished: frozenset[int]) -> list[RestingModule]:
    last = ordered[-1]
    graph, address = last.graph, last.census.nodes.address
    children = children_of_modules(graph)
    inside = {child for below in children.values() for child in below}
    ever_called = unfinished.union(*(window.called for window in windows))
    sees_inside = all(window.sees_inside for window in windows)
    called = [node for node in children if int(address[node]) in ever_called]
    of_called = {below for node in called for below in all_below(children, node)}
    tensors = parameter_tensors(graph)
    steps = count_steps(last.census.step, windows)
    waiting, seen = [node for node in children if node not in inside], set()
    found = []
    while waiting:
        node = waiting.pop()
        if node in seen or not last.paths.held_by_root(node):
            continue
        seen.add(node)
        below = all_below(children, node)
        subtree = frozenset(address[sorted(below)].tolist())
        rest = find_rest(subtree, int(address[node]), windows, unfinished, steps)
        if rest is not None and rest.is_short and not name_that_went(ordered, int(address[node])):
            rest = None
        if rest is None and sees_inside:
            rest = find_never_called(subtree, windows, unfinished)
            rest = rest if node in of_called or _stands_by_itself(graph, children, node) else None
        if rest is not None and not (sees_inside and _is_one_of_several(last, children, node, rest)):
            found.append(_weighed(graph, node, rest, tensors, below if sees_inside else set()))
        elif int(address[node]) not in ever_called or (sees_inside and _calls_its_parts(graph, node)):
            waiting += children[node]
    return found


def _is_one_of_several(last: View, children: Mapping[int, Sequence[int]], node: int, rest: Rest) -> bool:
    """A list of modules has it and another of its type that is in use: an expert that data may choose again, a layer
    that chance leaves out."""
    types, address = last.graph.type_names, last.census.nodes.address
    return any(
        types[other] == types[node] and int(address[other]) in rest.used_later
        for above, inside in children.items()
        if types[above] in _LISTS and node in inside
        for other in inside
    )


def _stands_by_itself(graph: Graph, children: Mapping[int, Sequence[int]], node: int) -> bool:
    """Whether others are trained, and no module is of its type: it would be that one's copy or average, which nobody
    has to call."""
    alike = (graph.type_names[other] == graph.type_names[node] for other in children if other != node)
    return bool(optimizer_nodes(graph)) and not any(alike)


def _calls_its_parts(graph: Graph, node: int) -> bool:
    name = graph.type_names[node]
    return not name.startswith(_TORCH) or name.startswith(_CALLING)


def _weighed(
    graph: Graph, node: int, rest: Rest, tensors: Iterable[tuple[int, int, int]], calls_seen: Collection[int]
) -> RestingModule:
    """`calls_seen`: the modules, itself among them, whose calls by other modules would have been seen."""
    below = reached_as_own(graph, node)
    mine = [(address, size, storage) for address, size, storage in tensors if below[storage]]
    storages = np.array(sorted({storage for _, _, storage in mine}), dtype=np.int64)
    return RestingModule(
        node,
        rest,
        storages,
        frozenset((address, size) for address, size, _ in mine),
        by_registry=references_to_submodules(graph, calls_seen)
        | (graph.hook_tables[graph.census.references.source] & bool(calls_seen)),
    )
