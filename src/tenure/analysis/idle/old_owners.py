"""Memory that came later than the object that has it: not the object is to go, but the attribute that got it.

An evaluator is made with the program's other parts, and the forecasts of its last run are what rests.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenure.analysis.heap.graph import Graph, is_builtin_type
from tenure.model.heap import Census, NodeKind


def attribute_of_old(graph: Graph, paths: Sequence[Sequence[int]], held_by: int, first: Census) -> int:
    """The reference `held_by`, or the innermost attribute below it on all `paths` whose owner, and each object between
    the two, was there in the `first` census."""
    shared = _shared(paths, held_by)
    old = frozenset(zip(first.nodes.address.tolist(), map(first.text, first.nodes.type.tolist()), strict=True))
    targets = graph.census.references.target
    found = held_by
    for at, reference in enumerate(shared):
        owner = int(targets[reference])
        if graph.instance_tables[owner]:
            continue
        is_plain = graph.census.nodes.kind[owner] == NodeKind.OBJECT and not is_builtin_type(graph.type_names[owner])
        known = (int(graph.census.nodes.address[owner]), graph.type_names[owner]) in old
        below = shared[at + 1 :]
        if not (is_plain and known and below):
            break
        in_table = graph.instance_tables[int(targets[below[0]])]
        if in_table and len(below) == 1:
            break
        found = below[1] if in_table else below[0]
    return found


def _shared(paths: Sequence[Sequence[int]], held_by: int) -> list[int]:
    """The references that all paths have from `held_by` on."""
    below = [list(path)[list(path).index(held_by) :] for path in paths if held_by in path]
    found = []
    for references in zip(*below, strict=False):
        if len(set(references)) > 1:
            break
        found.append(references[0])
    return found
