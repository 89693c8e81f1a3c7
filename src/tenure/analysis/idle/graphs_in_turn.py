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
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, series_of_rows, view_census
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable, is_element
from tenure.analysis.heap.paths import path_to
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.weights import is_news
from tenure.model.heap import Census, Ints, NodeKind, ReferenceKind
from tenure.model.profile import StepProfile
from tenure.model.recording import PEAK
from tenure.model.suspect import GRAPHS_IN_TURN, Suspect

BASIS = "replayed the profiled step with each graph freed where the next begins"
LEAST_GRAPHS = 2
_LEAF = "AccumulateGrad"
_SUMS = ("Add", "Sub", "Sum", "Mean", "Stack", "Cat", "Mul", "Div", "Neg", "Unsqueeze", "View", "Squeeze", "ToCopy")
_FACTORS = ("Mul", "Div")


def find_graphs_in_turn(profile: StepProfile, census: Census) -> tuple[Suspect, ...]:
    """One suspect of symptom "peak" where graphs alike, made one after the other in the second step, are alive at its
    peak with nothing in common but their leaves and what adds them up.

    Its fall of the peak is that of the step with each graph but the last one made freed before the next begins, what a
    backward pass itself takes left out. Costs a walk of the graphs, and a cut of what weighs enough.
    """
    replay = Replay(profile, census)
    if not replay.meets_peak():
        return ()
    view = view_census(census, Shapes())
    rows_of = [_rows_of(view, replay, nodes) for nodes in _alike(view, _parts(view))]
    times = Counter(row for rows in rows_of for row in rows)
    alone = [[row for row in rows if times[row] == 1] for rows in rows_of]
    in_turn = _in_turn(profile, [rows for rows in alone if rows])
    if len(in_turn) < LEAST_GRAPHS:
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


def _parts(view: View) -> list[list[int]]:
    """Autograd nodes by the graph that they are part of, sums of graphs and leaves left out."""
    nodes, references = view.census.nodes, view.census.references
    names = view.graph.type_names
    inner = {n for n in np.flatnonzero(nodes.kind == NodeKind.AUTOGRAD).tolist() if not names[n].startswith(_LEAF)}
    is_next = references.kind == ReferenceKind.NEXT
    pairs = zip(references.source[is_next].tolist(), references.target[is_next].tolist(), strict=True)
    edges = [(source, target) for source, target in pairs if source in inner and target in inner]
    below: dict[int, list[int]] = {}
    for source, target in edges:
        below.setdefault(source, []).append(target)
    sums = _sums_at_top(inner, below, names, {target for _, target in edges})
    return _joined(inner - sums, [edge for edge in edges if sums.isdisjoint(edge)])


def _sums_at_top(
    inner: Iterable[int], below: dict[int, list[int]], names: Sequence[str], has_above: Iterable[int]
) -> set[int]:
    """The nodes that only sums lead to and that are sums themselves, of which no product of two graphs is one."""
    waiting, found = [node for node in inner if node not in has_above], set()
    while waiting:
        node = waiting.pop()
        is_product = names[node].startswith(_FACTORS) and len(below.get(node, ())) > 1
        if node in found or not names[node].startswith(_SUMS) or is_product:
            continue
        found.add(node)
        waiting += below.get(node, ())
    return found


def _joined(nodes: Iterable[int], edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Nodes by what edges join."""
    part = {node: node for node in nodes}

    def top(node: int) -> int:
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node

    for one, other in edges:
        part[top(one)] = top(other)
    found: dict[int, list[int]] = {}
    for node in part:
        found.setdefault(top(node), []).append(node)
    return list(found.values())


def _alike(view: View, parts: Iterable[list[int]]) -> list[list[int]]:
    """Those of the parts that most nodes are in, of all that are made of as many nodes of the same kinds."""
    names = view.graph.type_names
    by_kinds: dict[frozenset[tuple[str, int]], list[list[int]]] = {}
    for nodes in parts:
        by_kinds.setdefault(frozenset(Counter(names[node] for node in nodes).items()), []).append(nodes)
    return max(by_kinds.values(), key=lambda alike: (len(alike) > 1, sum(map(len, alike))), default=[])


def _rows_of(view: View, replay: Replay, nodes: Sequence[int]) -> list[int]:
    """Storages that these nodes saved and that the second step made."""
    references, graph = view.census.references, view.graph
    saved = (references.kind == ReferenceKind.SAVED) & np.isin(references.source, nodes)
    beside = ~np.isin(references.kind, (ReferenceKind.STORAGE, ReferenceKind.BASE))
    reached = reach(graph, np.unique(references.target[saved]), without=beside)
    rows = [replay.row_of_node[node] for node in view.census.storages.node[reached[view.census.storages.node]].tolist()
            if node in replay.row_of_node]  # fmt: skip
    return [row for row in rows if not replay.is_from_before(row) and row not in replay.lasting]


def _in_turn(profile: StepProfile, rows_of: Iterable[list[int]]) -> list[list[int]]:
    """Graphs by when they were made, each after the one before was whole; none where two were made at the same time."""
    births: Ints = profile.storages.birth
    ordered = sorted(rows_of, key=lambda rows: int(births[rows].min()))
    ends = [int(births[rows].max()) for rows in ordered]
    starts = [int(births[rows].min()) for rows in ordered]
    return ordered if all(end < start for end, start in zip(ends, starts[1:], strict=False)) else []
