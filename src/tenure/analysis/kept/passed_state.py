"""State that an optimizer keeps for parameters which none of its later steps has changed: of layers that were frozen
while it went on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect, drops_of, told_by_holder
from tenure.analysis.heap.graph import Graph
from tenure.analysis.heap.groups import View, fingerprint_of, in_program_order, series_of_nodes
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable, find_droppable, innermost_droppable
from tenure.analysis.heap.modules import modules_of_all
from tenure.analysis.heap.optimizers import State, all_states_of, optimizer_nodes, states_of, with_gradient
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import FROZEN, Ints
from tenure.model.suspect import UNCHANGED_SINCE, Suspect

LEAST_LATER = 2
"""Censuses of steps' ends after the one in which the state was first as it stayed."""
LEAST_STEPS = 8
LEAST_SPAN = 1 / 3
"""Of the run's steps, in so many of which it was not changed, eight at least."""
LEAST_SHARE = 0.05
LEAST_BYTES = 128 << 10


_States = Mapping[int, State]
"""By the parameter's address."""


def find_passed_state(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": state of parameters that no step has changed for a third of the run, while every
    census shows that the optimizer's steps changed others.

    Written is told by version counters (`torch.Tensor._version`), which operations in place raise and kernels that
    torch does not dispatch do not, as those of fused optimizers: where none of an optimizer's state shows a change it
    is told of parameters that asked for no gradient in every census since, with doubt. What still has a gradient is
    none.
    """
    ordered = [view for view in in_program_order(views) if view.census.moment == "step-end"]
    early = _latest_start(ordered)
    if early < 0:
        return ()
    later = [view for view in views if view.census.step >= ordered[early].census.step]
    suspects = (_of_optimizer(ordered, early, optimizer, later) for optimizer in optimizer_nodes(ordered[-1].graph))
    return tuple(suspect for suspect in suspects if suspect is not None)


def _of_frozen(ordered: Sequence[View], early: int, optimizer: int, later: Sequence[View]) -> Suspect | None:
    """State of parameters that were frozen in each of the `later` censuses, and had no gradient, beside others that
    are trained."""
    address = int(ordered[-1].census.nodes.address[optimizer])
    states = [_states_at(view, address, of=all_states_of) for view in ordered]
    resting = frozenset.intersection(*(_frozen(view) - with_gradient(view) for view in later))
    rested = resting.intersection(states[early], states[-1])
    if not rested or rested == states[-1].keys():
        return None
    frozen = [rested <= _frozen(view) for view in ordered]
    start = max((at for at, each in enumerate(frozen) if not each), default=-1) + 1
    return _suspect(ordered, optimizer, states, rested, start, doubt=_FROZEN_NOW)


def _frozen(view: View) -> frozenset[int]:
    nodes = view.census.nodes
    return frozenset(nodes.address[(nodes.flags & FROZEN) != 0].tolist())


def _of_optimizer(ordered: Sequence[View], early: int, optimizer: int, later: Sequence[View]) -> Suspect | None:
    address = int(ordered[-1].census.nodes.address[optimizer])
    seen = {at: _states_at(ordered[at], address) for at in (early, len(ordered) - 1)}
    if not seen[len(ordered) - 1]:
        return _of_frozen(ordered, early, optimizer, later)
    passed = _unchanged(seen[early], seen[len(ordered) - 1])
    if not passed:
        return None
    states = [seen.get(at) or _states_at(view, address) for at, view in enumerate(ordered)]
    since = [_since(states, parameter) for parameter in passed]
    rested = {parameter for parameter, start in zip(passed, since, strict=True) if start <= early}
    rested -= frozenset().union(*(with_gradient(view) for view in ordered[early + 1 :]))
    start = max((at for parameter, at in zip(passed, since, strict=True) if parameter in rested), default=early)
    if not rested or not all(_others_changed(*pair, rested) for pair in pairwise(states[start:])):
        return None
    return _suspect(ordered, optimizer, states, rested, start)


def _latest_start(ordered: Sequence[View]) -> int:
    """Position of the last census from which on a rest is long enough to be told; -1 where none is."""
    end = ordered[-1].census.step if ordered else 0
    least = max(LEAST_STEPS, LEAST_SPAN * end)
    starts = (at for at, view in enumerate(ordered[:-LEAST_LATER]) if end - view.census.step >= least)
    return max(starts, default=-1)


def _states_at(view: View, optimizer: int, *, of: Callable[[Graph, int], Iterator[State]] = states_of) -> _States:
    """State of the optimizer at an address: that which shows whether it was written to, or `all_states_of` it."""
    nodes = np.flatnonzero(view.census.nodes.address == optimizer).tolist()
    return {state.address: state for node in nodes for state in of(view.graph, node)}


def _unchanged(earlier: _States, later: _States) -> list[int]:
    return sorted(each for each in earlier.keys() & later.keys() if earlier[each].looks == later[each].looks)


def _since(states: Sequence[_States], parameter: int) -> int:
    """Position of the first census from which on its state looks the same."""
    looks = [table[parameter].looks if parameter in table else None for table in states]
    return 1 + max((at for at, each in enumerate(looks) if each != looks[-1]), default=-1)


def _others_changed(before: _States, after: _States, rested: Collection[int]) -> bool:
    others = (before.keys() & after.keys()) - set(rested)
    return any(before[each].looks != after[each].looks for each in others)


def _came_back(states: Sequence[_States], rested: Collection[int]) -> bool:
    """Steps passed some of it by before, and changed it later."""
    return any(
        before[each].looks == after[each].looks != states[-1][each].looks
        for before, after in pairwise(states)
        for each in before.keys() & after.keys() & states[-1].keys() & set(rested)
        if _others_changed(before, after, (each,))
    )


def _suspect(
    ordered: Sequence[View],
    optimizer: int,
    states: Sequence[_States],
    rested: Collection[int],
    start: int,
    *,
    doubt: str = "",
) -> Suspect | None:
    last, path = ordered[-1], path_to(ordered[-1].graph, ordered[-1].paths, optimizer)
    memory = _memory(states[-1], rested)
    num_bytes = int(last.graph.bytes_of_node[memory].sum())
    if num_bytes < max(LEAST_BYTES, LEAST_SHARE * int(last.census.storages.bytes.sum())) or not path:
        return None
    holder = innermost_droppable(last.graph, find_droppable(last.graph) & last.graph.user_made, path, ())
    modules = modules_of_all(last.graph, {states[-1][each].parameter for each in rested})
    module = last.graph.type_names[modules[0]] if modules else ""
    facts: dict[str, object] = {UNCHANGED_SINCE: ordered[start].census.step, "parameters": len(rested)}
    facts |= {"module": module} if module else {}
    doubt = doubt or (_CAME_BACK if _came_back(states[: start + 1], rested) else "")
    facts |= {"doubt": doubt} if doubt else {}
    suspect = assemble_suspect(
        Group(last, memory, memory, cut=(holder,), freed=memory),
        symptom="survivor",
        measured=Measured(
            series=series_of_nodes(last.census.moment, ordered, [_memory(each, rested) for each in states]),
            facts=facts,
        ),
        fingerprint=fingerprint_of(f"passed state {last.graph.type_names[optimizer]} {module}"),
    )
    entries = (Droppable(states[-1][each].reference) for each in sorted(rested))
    return told_by_holder(replace(suspect, drops=drops_of(last.graph, entries)))


_FROZEN_NOW = "they ask for no gradient; whether steps change them cannot be seen"
_CAME_BACK = "steps passed it by before, and came back to it"


def _memory(states: _States, rested: Collection[int]) -> Ints:
    storages = {storage for each in rested if each in states for storage in states[each].storages}
    return np.array(sorted(storages), dtype=np.int64)
