"""Weights that autocast has cast and keeps in its cache until its region ends, though nothing uses them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tenure.analysis.idle.idle_at_peak import BASIS
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.told_by_statement import told_by_statement
from tenure.analysis.idle.weights import is_news
from tenure.model.heap import Ints
from tenure.model.profile import ALIVE
from tenure.model.source import SourceLocation
from tenure.model.suspect import HoldingReference, Suspect

LEAST_WEIGHTS = 3
_CAST = "aten._to_copy."
Region = tuple[SourceLocation, str]
"""Where the program begins a region, and the name that the statement gives it."""


def find_autocast_cache(replay: Replay, regions: Sequence[Region]) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "peak": casts that idle at the peak, that no name holds, and that all die at once,
    where `regions` of the program call `autocast` without `cache_enabled`.

    A region that trains uses them again in its backward pass; what a region casts once, and uses once, is kept for
    nothing. Its holder is the call. Costs a replay of the second profiled step.
    """
    if not regions or not replay.meets_peak():
        return ()
    rows = _kept_casts(replay)
    drop = replay.drop_without(rows) if len(rows) >= LEAST_WEIGHTS else 0
    if not is_news(drop, replay.peak_bytes):
        return ()
    nodes = np.array(sorted(replay.node_of_row[row] for row in rows), dtype=np.int64)
    return (_suspect(replay, nodes, drop, regions),)


def _kept_casts(replay: Replay) -> list[int]:
    """Rows of casts that idle, of those the ones that die at one operation: the region's end."""
    storages, operations = replay.profile.storages, replay.profile.operations
    by_end: dict[int, list[int]] = {}
    for row in replay.idle_rows():
        node, birth = replay.node_of_row.get(row), int(storages.birth[row])
        ends = int(storages.death[row])
        is_cast = birth >= 0 and replay.profile.text(int(operations.name[birth])).startswith(_CAST)
        if node is not None and is_cast and ends != ALIVE and not replay.view.paths.held_by_root(node):
            by_end.setdefault(ends, []).append(row)
    return max(by_end.values(), key=len, default=[])


def _suspect(replay: Replay, nodes: Ints, drop: int, regions: Sequence[Region]) -> Suspect:
    sites = tuple(site for site, _ in regions)
    holder = HoldingReference(kind="unknown", name=regions[0][1], expression=regions[0][1], sites=sites)
    found = told_by_statement(replay, nodes, holder, drop=drop, basis=BASIS, name="autocast keeps casts")
    facts: dict[str, object] = {"idle_at_peak": True, "autocast_cache": True}
    return replace(found, cut=(holder,), ambiguous=len(sites) > 1, facts=facts)
