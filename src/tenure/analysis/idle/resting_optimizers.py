"""Optimizers whose state no operation of the profiled steps touched, beside one that has stepped in them."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.graph import reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.optimizers import optimizer_nodes, state_tables
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import Ints, Role


def find_resting_optimizers(view: View, resting: Ints) -> dict[int, Ints]:
    """State by the reference that leads to the optimizer that has it, where all of it is `resting` and not all of
    another's is: the optimizer of a phase that is over, or of one that comes now and then.

    Costs a search of the census per optimizer where there are several.
    """
    state = {node: _state_of(view, node) for node in optimizer_nodes(view.graph)}
    rests = {node for node, storages in state.items() if len(storages) and np.isin(storages, resting).all()}
    if not any(len(storages) and node not in rests for node, storages in state.items()):
        return {}
    paths = {node: path_to(view.graph, view.paths, node) for node in rests}
    return {path[-1]: state[node] for node, path in paths.items() if path}


def _state_of(view: View, optimizer: int) -> Ints:
    """Storages that lie in the optimizer's table of state."""
    graph, storages = view.graph, view.census.storages
    reached = reach(graph, np.array(state_tables(graph, optimizer), dtype=np.int64))
    state: Ints = storages.node[(storages.role == Role.OPTIMIZER_STATE) & reached[storages.node]]
    return state
