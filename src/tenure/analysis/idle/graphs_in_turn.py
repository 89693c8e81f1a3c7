"""Graphs of several forwards that wait for one backward, where a backward for each would free it before the next.

Gradients add up: of a sum or a mean of losses, each of which has a graph of its own, the parts can be sent backward one
by one. Kept until the last is there, all their activations are alive at the step's peak.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.graph import GRAPH_REFERENCES, reach
from tenure.analysis.heap.graphs_alike import find_graphs_alike
from tenure.analysis.heap.groups import View, fingerprint_of, series_of_rows
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable, is_element
from tenure.analysis.heap.paths import path_to
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.weights import is_news
from tenure.model.heap import Ints, ReferenceKind
from tenure.model.profile import Phase, StepProfile
from tenure.model.recording import PEAK
from tenure.model.suspect import GRAPHS_IN_TURN, Suspect

BASIS = "replayed the profiled step with each graph freed where the next begins"
LEAST_GRAPHS = 2
_NUMBER_BYTES = 16
_SCALES = frozenset({"mul", "mul_", "div", "div_", "neg"})
_JOINS = frozenset({"stack", "cat", "add", "add_", "sum", "mean"})
_LOOKS = frozenset(
    {"detach", "alias", "clone", "copy_", "_to_copy", "_local_scalar_dense", "ones_like", "isnan", "isinf", "abs"}
    | {"eq", "ne", "lt", "le", "gt", "ge", "view", "expand", "unsqueeze", "squeeze"}
)
"""What a log, a check for NaN and the beginning of a backward pass make of a loss."""


def find_graphs_in_turn(replay: Replay) -> tuple[Suspect, ...]:
    """One suspect of symptom "peak" where graphs alike, made one after the other in the second step, are alive at its
    peak with nothing in common but their leaves and what adds them up.

    Its fall of the peak is that of the step with each graph but the last one made freed before the next begins, what a
    backward pass itself takes left out. Costs a walk of the graphs, and the paths to what they saved.
    """
    profile = replay.profile
    if not (replay.meets_peak() and len(profile.uses.operation)):
        return ()
    view = replay.view
    rows_of = [_rows_of(view, replay, nodes) for nodes in find_graphs_alike(view.graph)]
    times = Counter(row for rows in rows_of for row in rows)
    alone = [[row for row in rows if times[row] == 1] for rows in rows_of]
    in_turn = _in_turn(profile, [rows for rows in alone if rows])
    if len(in_turn) < LEAST_GRAPHS or _are_worked_on_later(view, replay, in_turn):
        return ()
    births = profile.storages.birth
    freed = {row: int(births[rows].max()) for rows in in_turn[:-1] for row in rows}
    drop = replay.drop_if_freed(freed)
    if not is_news(drop, replay.peak_bytes):
        return ()
    return _suspects(view, replay, [row for rows in in_turn for row in rows], len(in_turn), drop)


def _suspects(view: View, replay: Replay, rows: Sequence[int], number: int, drop: int) -> tuple[Suspect, ...]:
    nodes = np.array(sorted(replay.node_of_row[row] for row in rows), dtype=np.int64)
    holder = _holder(view, nodes.tolist())
    if holder is None:
        return ()
    group = Group(view, nodes, nodes, cut=(holder,), freed=nodes)
    series = series_of_rows(PEAK, [view], [(int(view.graph.bytes_of_node[nodes].sum()), len(nodes))])
    measured = Measured(series=series, facts={"idle_at_peak": True, GRAPHS_IN_TURN: number})
    suspect = assemble_suspect(group, symptom="peak", measured=measured, fingerprint="")
    held = f"{suspect.holder.scope_function} {suspect.holder.owner_type} {suspect.holder.name}"
    return (
        dataclasses.replace(
            suspect,
            fingerprint=fingerprint_of(f"graphs in turn {held}"),
            peak_bytes=replay.peak_bytes,
            peak_drop_bytes=drop,
            peak_basis=BASIS,
        ),
    )


def _holder(view: View, nodes: Iterable[int]) -> Droppable | None:
    """What the program has of the graphs: a container's elements, rather than a variable of their sum. A running
    backward pass keeps them too, so that to drop it would free none."""
    kinds = view.census.references.kind
    found: list[int] = []
    for node in nodes:
        path = path_to(view.graph, view.paths, node)
        first = next((at for at, reference in enumerate(path) if kinds[reference] in GRAPH_REFERENCES), 0)
        found += path[first - 1 : first] if first else ()
    elements = (reference for reference in found if is_element(view.graph, reference))
    element = next(elements, None)
    if element is not None:
        return Droppable(element, int(view.census.references.source[element]))
    return Droppable(found[0]) if found else None


def _rows_of(view: View, replay: Replay, nodes: Sequence[int]) -> list[int]:
    """Storages that these nodes saved and that the second step made."""
    references, graph = view.census.references, view.graph
    saved = (references.kind == ReferenceKind.SAVED) & np.isin(references.source, nodes)
    beside = ~np.isin(references.kind, (ReferenceKind.STORAGE, ReferenceKind.BASE))
    reached = reach(graph, np.unique(references.target[saved]), without=beside)
    rows = [replay.row_of_node[node] for node in view.census.storages.node[reached[view.census.storages.node]].tolist()
            if node in replay.row_of_node]  # fmt: skip
    return [row for row in rows if not replay.is_from_before(row) and row not in replay.lasting]


def _are_worked_on_later(view: View, replay: Replay, in_turn: Sequence[list[int]]) -> bool:
    """Whether anything but a join or a look uses a tensor of one graph once the next was begun, or anything but these
    and a scale by a number what they are joined to: a log-probability waits for a return that only the episode's end
    tells, and no backward pass can begin before."""
    profile = replay.profile
    storages, number = profile.storages, profile.num_operations
    starts = [int(storages.birth[rows].min()) for rows in in_turn]
    next_begun = {
        row: next((start for start in starts if start > storages.birth[row]), number)
        for row in _rows_with_graph(view, replay)
        if storages.birth[row] >= starts[0]
    }
    joined: set[int] = set()
    for operation, inputs in profile.inputs().items():
        late = {row for row in inputs if row in joined or operation >= next_begun.get(row, number)}
        if not late or int(profile.operations.phase[operation]) not in (Phase.OTHER, Phase.FORWARD):
            continue
        kernel = profile.kernel_of(operation)
        scales = late <= joined and all(storages.bytes[row] <= _NUMBER_BYTES for row in inputs if row not in late)
        if kernel not in _JOINS | _LOOKS and not (scales and kernel in _SCALES):
            return True
        joined.update(np.flatnonzero(storages.birth == operation).tolist())
    return False


def _rows_with_graph(view: View, replay: Replay) -> list[int]:
    """Storages of tensors that some operation with a graph made."""
    references = view.census.references
    made = np.unique(references.source[references.kind == ReferenceKind.GRAD_FN])
    of_storage = (references.kind == ReferenceKind.STORAGE) & np.isin(references.source, made)
    nodes = np.unique(references.target[of_storage]).tolist()
    return [replay.row_of_node[node] for node in nodes if node in replay.row_of_node]


def _in_turn(profile: StepProfile, rows_of: Iterable[list[int]]) -> list[list[int]]:
    """Graphs by when they were made, each after the one before was whole; none where two were made at the same time."""
    births: Ints = profile.storages.birth
    ordered = sorted(rows_of, key=lambda rows: int(births[rows].min()))
    ends = [int(births[rows].max()) for rows in ordered]
    starts = [int(births[rows].min()) for rows in ordered]
    return ordered if all(end < start for end, start in zip(ends, starts[1:], strict=False)) else []
