"""What is carried into a forward for the step that begins there: a batch that was staged, a table that each step reads.

Nobody would drop it; what the profiled steps leave untouched is told to rest at their peak.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from tenure.analysis.heap.graph import labelled, object_of
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.wording import attribute_name
from tenure.analysis.idle.peak_figures import is_carried
from tenure.analysis.idle.resting_history import storages_below
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import NodeKind
from tenure.model.suspect import FOR_THE_STEP, HoldingReference, Suspect

_MOSTLY = 0.8
"""Of the bytes under the names that are to be dropped."""


def told_where_steps_use_what_is_carried(suspects: Iterable[Suspect], peaks: Sequence[Replay]) -> tuple[Suspect, ...]:
    """The suspects; those that are no graph's, with the fact, where the second of two profiled steps used most of what
    their names held at its peak, and did not make it."""
    return tuple(
        dataclasses.replace(each, facts=each.facts | {FOR_THE_STEP: True})
        if is_carried(each) and not each.through_graph and any(_uses(peak, each.cut) for peak in peaks)
        else each
        for each in suspects
    )


def _uses(peak: Replay, cut: Sequence[HoldingReference]) -> bool:
    sizes = peak.view.graph.bytes_of_node
    targets = [node for reference in cut for node in _held_by(peak.view, reference)]
    held = storages_below(peak.view.graph, np.array(targets, dtype=np.int64))
    used = [node for node in held.tolist() if _was_there_and_used(peak, peak.row_of_node.get(node))]
    return bool(used) and int(sizes[used].sum()) >= _MOSTLY * int(sizes[held].sum())


def _was_there_and_used(peak: Replay, row: int | None) -> bool:
    return row is not None and peak.is_from_before(row) and peak.profile.storages.last_use[row] >= peak.profile.second


def _held_by(view: View, reference: HoldingReference) -> list[int]:
    """What references of this name lead to: variables of its function, attributes and entries of its type of object."""
    graph, references = view.graph, view.census.references
    named = np.flatnonzero(labelled(graph, (reference.name,))).tolist()
    return [int(references.target[each]) for each in named if _is_of(view, each, reference)]


def _is_of(view: View, each: int, reference: HoldingReference) -> bool:
    graph, nodes = view.graph, view.census.nodes
    owner = object_of(graph, int(view.census.references.source[each]))
    if reference.owner_type:
        return attribute_name(graph, each) == reference.name and graph.type_names[owner] == reference.owner_type
    in_function = view.census.text(int(nodes.name[owner])) == reference.scope_function
    return bool(nodes.kind[owner] != NodeKind.OBJECT) and in_function
