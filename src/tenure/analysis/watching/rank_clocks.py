"""Whether ranks count the same steps at the same time, whose clock goes ahead, and who ended before the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from tenure.analysis.watching.counter_series import Numbers
from tenure.analysis.watching.rank_rows import RankRows
from tenure.analysis.watching.robust import scatter_of
from tenure.model.ranks import EarlyEnd, RankEnd

LEAST_SKEW_SECONDS = 0.05
SURE = 5.0
"""Times the scatter of step ends a clock is ahead."""
FEWEST_ENDS = 20
LATE_SECONDS, LATE_STEPS = 5.0, 10
"""A rank that is silent for longer than both has ended: rows reach the disk within a second."""
COUNTED_SHARE, COUNTED_STEPS = 0.02, 5
"""Ranks that differ by more than both at one moment count steps differently."""


def find_clock_skew(ranks: Sequence[RankRows]) -> dict[str, float]:
    """Seconds by which each node's clock is ahead of all others', where step ends are simultaneous and it is sure.

    Only between nodes: ranks of one node share a clock, and differ because one is slower.
    """
    there = [(each.run.node, each.wall) for each in ranks if each.wall is not None and each.run.node is not None]
    nodes = sorted({node for node, _ in there if node is not None})
    if len(nodes) < 2:
        return {}
    first = max(float(wall[0][0]) for _, wall in there)
    last = min(float(wall[0][-1]) for _, wall in there)
    grid = there[0][1][0]
    grid = grid[(grid >= first) & (grid <= last)]
    if len(grid) < FEWEST_ENDS:
        return {}
    ends = np.array([np.interp(grid, *wall) for _, wall in there])
    by_node = {node: ends[[own == node for own, _ in there]] for node in nodes}
    found = {}
    for node, own in by_node.items():
        others = np.concatenate([rows for other, rows in by_node.items() if other != node])
        ahead = np.median(own, axis=0) - np.median(others, axis=0)
        seconds = float(np.median(ahead))
        if abs(seconds) >= max(LEAST_SKEW_SECONDS, SURE * scatter_of(ahead)):
            found[node] = round(seconds, 3)
    return found


def find_counts(ranks: Sequence[RankRows]) -> dict[int, int]:
    """Steps of each rank at the moment at which the first of them ended; empty where all count alike."""
    walls = {each.run.rank: each.wall for each in ranks if each.wall is not None}
    if len(walls) < 2:
        return {}
    moment = min(float(times[-1]) for _, times in walls.values())
    counts = {rank: round(float(np.interp(moment, times, steps))) for rank, (steps, times) in walls.items()}
    middle = float(np.median(list(counts.values())))
    apart = max(counts.values()) - min(counts.values())
    return counts if apart > max(COUNTED_STEPS, COUNTED_SHARE * middle) else {}


def find_early_ends(ranks: Sequence[RankRows]) -> tuple[EarlyEnd, ...]:
    """Ranks whose last step lies before the others' in number, and in time where clocks are told."""
    if len(ranks) < 2:
        return ()
    furthest = max(each.run.steps for each in ranks)
    latest = max((float(each.wall[1][-1]) for each in ranks if each.wall is not None), default=None)
    return tuple(
        EarlyEnd(each.run.rank, each.run.steps, furthest, each.run.end)
        for each in ranks
        if each.run.steps < furthest and _has_ended(each, latest)
    )


def find_bad_ends(ranks: Sequence[RankRows], clock_seconds: Mapping[str, float]) -> tuple[RankEnd, ...]:
    """Ranks that a signal ended, or that ended with an exit code that is not 0, the first first; those of which no time
    is known at the end."""
    found = []
    for each in ranks:
        end = each.program_end
        if end is not None and end.code:
            ahead = clock_seconds.get(each.run.node or "", 0.0)
            time = None if end.time is None else end.time - max(0.0, ahead)
            found.append(RankEnd(each.run.rank, end.code, each.run.steps, time))
    return tuple(sorted(found, key=lambda end: (inf if end.time is None else end.time, end.rank)))


def _has_ended(rank: RankRows, latest: float | None) -> bool:
    if rank.wall is None or latest is None:
        return rank.run.end is not None
    silent = latest - float(rank.wall[1][-1])
    return silent > max(LATE_SECONDS, LATE_STEPS * _seconds_per_step(*rank.wall))


def _seconds_per_step(steps: Numbers, times: Numbers) -> float:
    return float((times[-1] - times[0]) / (steps[-1] - steps[0])) if steps[-1] > steps[0] else 0.0
