"""Why a module that rests may be in use all the same, or come to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, Graph, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.modules import children_of_modules, parameter_tensors
from tenure.analysis.heap.optimizers import never_stepped, optimizer_nodes
from tenure.analysis.idle.resting_modules import RestingModule, reached_as_own
from tenure.analysis.idle.rests import LEAST_WINDOWS

IN_OPTIMIZER = "an optimizer that goes on has its parameters: the program may come back to it"
STOPPED = "an optimizer has it that trains nothing else or has stopped: the program may come back to both"
LITTLE = "it is little: of what the program is to be it may be next to nothing"
UNSEEN = "nobody was seen to call it: the program may yet do so"


def doubt_about(ordered: Sequence[View], idle: RestingModule) -> str:
    """Why the module may be in use all the same, or ""."""
    last, rest = ordered[-1], idle.rest
    if not optimizer_nodes(last.graph):
        return "no optimizer exists: the program may come back to it"
    if _is_in_optimizer(last.graph, idle, set(optimizer_nodes(last.graph)) - idle.stopped):
        return IN_OPTIMIZER
    if _is_in_optimizer(last.graph, idle, idle.stopped):
        return STOPPED
    if not rest.times_called:
        return UNSEEN
    if rest.times_called < 2 and not rest.at_first_call:
        return "it was seen in use only once"
    if rest.had_breaks:
        return "it was used now and then: it may be used again"
    if rest.began_late:
        return "its use began late and ended: such a phase may come again"
    if rest.is_short:
        return "it has rested for a few steps only"
    if rest.times_idle < LEAST_WINDOWS:
        return "few censuses were taken since it was last called"
    if rest.last_step > last.census.step / 2:
        return "it was in use until late"
    if _has_twin(last, idle):
        return "a module in use is made like it: it may be its copy or average, updated without a call"
    return ""


def _is_in_optimizer(graph: Graph, idle: RestingModule, optimizers: Collection[int]) -> bool:
    """One of these that has stepped it."""
    without = np.isin(graph.census.references.kind, GRAPH_REFERENCES) | never_stepped(graph)
    below = reach(graph, np.array(sorted(optimizers), dtype=np.int64), without=without)
    return bool(below[idle.storages].any())


def _has_twin(last: View, idle: RestingModule) -> bool:
    """A trained or called module of its type has parameters of the same sizes."""
    graph, sizes = last.graph, sorted(size for _, size in idle.parameters)
    tensors = parameter_tensors(graph)
    type_name = graph.type_names[idle.node]
    others = [n for n in children_of_modules(graph) if n != idle.node and graph.type_names[n] == type_name]
    optimizers = reach(graph, np.array(optimizer_nodes(graph), dtype=np.int64))
    for other in others:
        below = reached_as_own(graph, other)
        mine = [(size, storage) for _, size, storage in tensors if below[storage]]
        is_used = int(last.census.nodes.address[other]) in idle.rest.used_later
        is_used = is_used or any(optimizers[storage] for _, storage in mine)
        if is_used and sorted(size for size, _ in mine) == sizes:
            return True
    return False
