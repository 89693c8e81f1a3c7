"""What is carried into a forward for the step that begins there: a batch that was staged, a table that each step reads.

Nobody would drop it; what the profiled steps leave untouched is told to rest at their peak.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from tenure.analysis.heap.graph import GRAPH_REFERENCES, object_of, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.wording import attribute_name
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Ints, NodeKind
from tenure.model.suspect import FOR_THE_STEP, HoldingReference, Suspect

_ENTRY = "forward-entry"
_MOSTLY = 0.8
"""Of the bytes under the names that are to be dropped."""


def told_where_steps_use_what_is_carried(suspects: Iterable[Suspect], peaks: Sequence[Replay]) -> tuple[Suspect, ...]:
    """The suspects; those that are no graph's, with the fact, where the second of two profiled steps used most of what
    their names held at its peak, and did not make it."""
    return tuple(
        dataclasses.replace(each, facts=each.facts | {FOR_THE_STEP: True})
        if _is_carried(each) and any(_uses(peak, each.cut) for peak in peaks)
        else each
        for each in suspects
    )


def _is_carried(suspect: Suspect) -> bool:
    return suspect.symptom == "peak" and suspect.series.moment == _ENTRY and not suspect.through_graph


def _uses(peak: Replay, cut: Sequence[HoldingReference]) -> bool:
    view, sizes = peak.view, peak.view.graph.bytes_of_node
    targets = [node for reference in cut for node in _held_by(view, reference)]
    without = np.isin(view.census.references.kind, GRAPH_REFERENCES)
    below = reach(view.graph, np.unique(np.array(targets, dtype=np.int64)), without=without)
    held = view.census.storages.node[below[view.census.storages.node]]
    used = [node for node in held.tolist() if _was_there_and_used(peak, peak.row_of_node.get(node))]
    return bool(used) and int(sizes[used].sum()) >= _MOSTLY * int(sizes[held].sum())


def _was_there_and_used(peak: Replay, row: int | None) -> bool:
    return row is not None and peak.is_from_before(row) and peak.profile.storages.last_use[row] >= peak.profile.second


def _held_by(view: View, reference: HoldingReference) -> Ints:
    """What references of this name lead to: variables of its function, attributes and entries of its type of object."""
    graph, references = view.graph, view.census.references
    found = []
    for each in np.flatnonzero(np.isin(references.label, _labels(view, reference.name))).tolist():
        owner = object_of(graph, int(references.source[each]))
        if reference.owner_type:
            fits = attribute_name(graph, each) == reference.name and graph.type_names[owner] == reference.owner_type
        else:
            at = view.census.nodes.name[owner]
            fits = view.census.nodes.kind[owner] != NodeKind.OBJECT and _text(view, at) == reference.scope_function
        found += [int(references.target[each])] if fits else []
    return np.array(found, dtype=np.int64)


def _text(view: View, at: int) -> str:
    return view.census.text(int(at)) if at >= 0 else ""


def _labels(view: View, name: str) -> list[int]:
    return [at for at, text in enumerate(view.census.strings) if text in (name, f"'{name}'")]
