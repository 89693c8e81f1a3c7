"""Graphs at a profiled step's peak that no backward pass goes through: a judge, a teacher or a metric that is called
with autograd on has the activations of its own call saved for nothing.

Nobody need have the graph by a name: while the call goes on, its own variables lead to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.groups import fingerprint_of, series_of_rows
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.running import running_functions
from tenure.analysis.heap.saved_by_graphs import saved_by_each_graph
from tenure.analysis.heap.storage_facts import bytes_of, identities
from tenure.analysis.idle.idle_at_peak import BASIS
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.weights import LEAST_BYTES, is_news
from tenure.model.heap import Ints
from tenure.model.profile import Phase
from tenure.model.recording import PEAK
from tenure.model.suspect import EVALUATED_WITH_GRAPH, RETURNED, RUNNING, Suspect

LEAST_SHARE = 0.95
"""Of what a graph has saved, by bytes, no operation may use any more: of some that a training needs most is not used
at once, and some kernels never use what is saved for them."""
FEWEST = 4
"""Storages that such a graph has saved: what is saved for a single operation is no model's call."""
_FORWARD = ".forward"


def find_unused_graphs(replay: Replay, told: Collection[tuple[int, int]] = frozenset()) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "peak": what the graphs at the peak have saved that no operation uses again, at
    the program's own call that makes them. `told` is memory that names lead to and that is told by these.

    Costs a walk of the graphs of the census at the peak.
    """
    calls = _outside_forwards(running_functions(replay.census))
    if not replay.meets_peak() or not calls:
        return ()
    nodes = _unused(replay)
    memory = identities(replay.view, nodes)
    if 2 * bytes_of(memory.intersection(told)) >= bytes_of(memory):
        return ()
    members = [replay.row_of_node[node] for node in nodes.tolist()]
    size, drop = int(replay.profile.storages.bytes[members].sum()), replay.drop_without(members)
    if drop < LEAST_BYTES or not is_news(drop, replay.peak_bytes):
        return ()
    series = series_of_rows(PEAK, [replay.view], [(size, len(members))])
    facts = {EVALUATED_WITH_GRAPH: "", RETURNED: True, RUNNING: calls}
    group = Group(replay.view, nodes, nodes, cut=(), freed=nodes)
    fingerprint, measured = fingerprint_of(f"unused graph {calls[0][2]}"), Measured(series=series, facts=facts)
    suspect = assemble_suspect(group, symptom="peak", measured=measured, fingerprint=fingerprint)
    peak = replay.peak_bytes
    return (dataclasses.replace(suspect, drops=(), peak_bytes=peak, peak_drop_bytes=drop, peak_basis=BASIS),)


def _unused(replay: Replay) -> Ints:
    """Storages that the second step's forwards made and graphs have saved, of graphs that nothing uses any more."""
    storages, operations = replay.profile.storages, replay.profile.operations
    idle = frozenset(replay.idle_rows())
    found: set[int] = set()
    for saved in saved_by_each_graph(replay.view):
        rows = {replay.row_of_node[node]: node for node in saved.tolist() if node in replay.row_of_node}
        made = [row for row in rows if storages.birth[row] >= replay.profile.second]
        made = [row for row in made if operations.phase[storages.birth[row]] != Phase.BACKWARD]
        unused = [row for row in made if row in idle]
        share = storages.bytes[unused].sum() / max(1, storages.bytes[made].sum())
        if len(unused) >= FEWEST and share >= LEAST_SHARE:
            found |= {rows[row] for row in unused}
    return np.array(sorted(found), dtype=np.int64)


def _outside_forwards(calls: tuple[tuple[str, int, str], ...]) -> tuple[tuple[str, int, str], ...]:
    """The program's functions from the one that called its outermost running module."""
    inside = [at for at, (_, _, function) in enumerate(calls) if function.endswith(_FORWARD)]
    return calls[inside[-1] + 1 :] if inside else calls
