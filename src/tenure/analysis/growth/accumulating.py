"""Shapes at which something accumulates from census to census: the topmost that gain members or graph nodes and keep
them, and single storages that swell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.rebuilt import is_rebuilt
from tenure.analysis.growth.trend import (
    WARM_UP_STEP,
    Trend,
    find_period_in_part,
    find_trend,
    is_exact_line,
    is_steady,
)
from tenure.analysis.heap.groups import Shapes, View, Weights, weigh
from tenure.model.heap import GRAPH_CONTINUES, Ints, NodeKind

KEPT_SHARE = 0.6
"""Share of an earlier census's members that must still be there: else it is turnover that happens to rise."""
KEPT_SHARE_OF_FEW = 0.9
FEW_POINTS = 4


@dataclass(frozen=True)
class Grown:
    """A shape at which something accumulates."""

    shape: int
    trend: Trend
    bytes_only: bool = False
    rebuilt: bool = False
    """No member stays: all are made anew, and become more."""


def accumulation_points(
    views: Sequence[View], shapes: Shapes, weights: Weights, *, by_call: bool = False
) -> list[Grown]:
    """The topmost shapes that gain members while the shape above does not; then single storages that swell."""
    steps = [view.census.step for view in views]
    counts = weights.members + weights.graph_nodes
    found: dict[int, Grown] = {}
    rebuilt: list[Grown] = []
    for shape in np.flatnonzero(counts.max(axis=0) != counts.min(axis=0)).tolist():
        if any(above in found for above in shapes.lineage(shape)):
            continue
        trend = find_trend(steps, counts[:, shape].tolist())
        plain = trend.kind == "growing" and not weights.graph_nodes[-1, shape]
        if trend.kind == "flat" or (plain and _were_all_there(views, shape)) or _are_hook_tables(views[-1], shape):
            continue
        of_graph = shapes.graph[shape] >= 0 or weights.graph_nodes[:, shape].any()
        if of_graph and _falls_out_of_sight(views, counts[:, shape]):
            continue
        if _members_stay(views, shape, counts[:, shape], trend):
            found[shape] = Grown(shape, trend)
        elif plain and is_rebuilt(views, shape, counts[:, shape].tolist()):
            rebuilt.append(Grown(shape, trend, rebuilt=True))
    found |= {point.shape: point for point in _not_copied(rebuilt, found, shapes, counts)}
    for shape in np.flatnonzero(weights.own_bytes.max(axis=0) != weights.own_bytes.min(axis=0)).tolist():
        values, counts_there = weights.own_bytes[:, shape].tolist(), weights.own_storages[:, shape].tolist()
        swells = is_steady(steps, values) or (by_call and set(counts_there) == {1} and is_exact_line(steps, values))
        if any(above in found for above in (shape, *shapes.lineage(shape))) or not swells:
            continue
        if shapes.graph[shape] >= 0:  # as many nodes and tensors as before, of a step that works on more
            continue
        trend = find_trend(steps, values)
        if trend.kind == "growing" and not _are_made_anew(views, shape, counts_there, values):
            found[shape] = Grown(shape, trend, bytes_only=True)
    return list(found.values())


def sawteeth(views: Sequence[View], seen_whole: Sequence[View], shapes: Shapes, whole: Sequence[bool]) -> list[Grown]:
    """The topmost shapes whose graph nodes rise and fall with a period, where some censuses saw a part of them only."""
    weights = weigh(views, shapes)
    steps = [view.census.step for view in views]
    found: dict[int, Grown] = {}
    counts = weights.members + weights.graph_nodes
    for shape in np.flatnonzero(weights.graph_nodes.max(axis=0) != weights.graph_nodes.min(axis=0)).tolist():
        if any(above in found for above in shapes.lineage(shape)):
            continue
        period = find_period_in_part(steps, counts[:, shape].tolist(), whole)
        trend = Trend("sawtooth", period=period)
        if period and _members_stay(seen_whole, shape, counts[list(whole), shape], trend):
            found[shape] = Grown(shape, trend)
    return list(found.values())


def _falls_out_of_sight(views: Sequence[View], counts: Ints) -> bool:
    """It falls, and only where a census could not follow some graphs to their ends: they may have what is missing."""
    falls = np.flatnonzero(np.diff(counts) < 0) + 1
    return bool(len(falls)) and all(is_cut_short(views[at]) for at in falls.tolist())


def is_cut_short(view: View) -> bool:
    """Whether some graph goes on out of sight."""
    nodes = view.census.nodes
    return bool(np.any((nodes.kind == NodeKind.AUTOGRAD) & ((nodes.flags & GRAPH_CONTINUES) != 0)))


def _not_copied(rebuilt: Sequence[Grown], found: Collection[int], shapes: Shapes, counts: Ints) -> Iterator[Grown]:
    """The topmost of those whose members are made anew, but for copies of others that stay and become as many."""
    told = {counts[:, shape].tobytes() for shape in found}
    taken = set(found)
    for point in rebuilt:
        if taken.isdisjoint(shapes.lineage(point.shape)) and counts[:, point.shape].tobytes() not in told:
            taken.add(point.shape)
            yield point


def _were_all_there(views: Sequence[View], shape: int) -> bool:
    """The last census's members lived in the first one: they lost another name, under which they were counted."""
    first, last = views[0], views[-1]
    then = dict(zip(first.census.nodes.address.tolist(), first.graph.type_names, strict=True))
    members = last.members(shape).tolist()
    return all(then.get(int(last.census.nodes.address[node])) == last.graph.type_names[node] for node in members)


def _are_hook_tables(view: View, shape: int) -> bool:
    """Every module has its tables of hooks from the start, and one more of them in a census had its first hook: it is
    the hooks that accumulate."""
    members = view.members(shape)
    return bool(len(members)) and bool(view.graph.hook_tables[members].all())


def _are_made_anew(views: Sequence[View], shape: int, counts: Sequence[int], values: Sequence[int]) -> bool:
    """Ever more storages, none larger, of which most were not there a census before: a copy of a growing model."""
    seen = [(view, count, size) for view, count, size in zip(views, counts, values, strict=True) if count]
    means = [size // count for _, count, size in seen]
    if len({count for _, count, _ in seen}) == 1 or is_steady([view.census.step for view, _, _ in seen], means):
        return False
    rising = [(before, after) for (before, first, _), (after, second, _) in pairwise(seen) if second > first]
    stayed = sum(_most_stay(_storages_at(before, shape), _storages_at(after, shape)) for before, after in rising)
    return 2 * stayed <= len(rising)


def _storages_at(view: View, shape: int) -> set[int]:
    storages = view.census.storages
    return set(view.census.storage_identities[view.shape[storages.node] == shape].tolist())


def _most_stay(before: set[int], after: set[int], share: float = KEPT_SHARE) -> bool:
    return len(before & after) >= share * len(before)


def _members_stay(views: Sequence[View], shape: int, counts: Ints, trend: Trend) -> bool:
    """What was there in one census is there in the next, unless the period ended between them."""
    steps = [view.census.step for view in views]
    late = sum(step > max(WARM_UP_STEP, trend.since or 0) for step in steps)
    share = KEPT_SHARE_OF_FEW if late <= FEW_POINTS else KEPT_SHARE
    kept = []
    for (before, after), (first, second) in zip(pairwise(views), pairwise(counts.tolist()), strict=True):
        apart = after.census.step - before.census.step
        if first == 0 or second <= first or (trend.period is not None and apart >= trend.period):
            continue
        kept.append(_most_stay(before.addresses(shape), after.addresses(shape), share))
    if trend.kind == "sawtooth":
        return sum(kept) >= 2 and all(kept)
    return bool(kept) and sum(kept) * 2 > len(kept)
