"""The ranks of one run beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tenure.analysis.watching.rank_clocks import find_bad_ends, find_clock_skew, find_counts, find_early_ends
from tenure.analysis.watching.rank_growth import find_levels, find_rank_differences
from tenure.analysis.watching.rank_roles import find_role_differences, with_roles
from tenure.analysis.watching.rank_rows import COUNTERS, RankRows, newest_of_each, read_rank
from tenure.model.ranks import RankComparison, RankDifference
from tenure.model.recording import Recording


def compare_ranks(recordings: Iterable[Recording]) -> RankComparison | None:
    """The comparison; None for fewer than two ranks. A role that makes most of what a counter tells is told there.

    Some milliseconds for each rank, whose rows are read one by one.
    """
    return compare_rows(rows for rows in map(read_rank, recordings) if rows is not None)


def compare_rows(rows: Iterable[RankRows]) -> RankComparison | None:
    """The same of what was read before; ten milliseconds for each rank."""
    ranks, num_before = newest_of_each(rows)
    if len(ranks) < 2:
        return None
    present = {each.run.rank for each in ranks}
    world = max((each.world_size or 0 for each in ranks), default=0)
    counters = with_roles([found for name in COUNTERS for found in find_rank_differences(ranks, name)], ranks)
    told = {(rank, each.role) for each in counters for rank in each.ranks}
    roles = [each for each in find_role_differences(ranks) if (each.ranks[0], each.role) not in told]
    levels = (find_levels(_others(ranks, counters, name), name) for name in COUNTERS)
    clock_seconds = find_clock_skew(ranks)
    return RankComparison(
        runs=tuple(each.run for each in ranks),
        missing=tuple(rank for rank in range(world) if rank not in present),
        common_steps=min(each.run.steps for each in ranks),
        differences=tuple(_together([*counters, *roles])),
        levels=tuple(each for each in levels if each is not None),
        ended_early=find_early_ends(ranks),
        counted=find_counts(ranks),
        clock_seconds=clock_seconds,
        census_seconds=_slowest_pauses(ranks),
        num_attempts_before=num_before,
        ends=find_bad_ends(ranks, clock_seconds),
    )


def _others(ranks: Sequence[RankRows], differences: Sequence[RankDifference], name: str) -> list[RankRows]:
    """Those whose counter is not told to differ: what grows has no level."""
    told = {rank for each in differences if each.what == name for rank in each.ranks}
    return [each for each in ranks if each.run.rank not in told]


def _together(differences: Sequence[RankDifference]) -> list[RankDifference]:
    """One difference for all ranks that have the same: since the first of them, by the median rate."""
    groups: dict[tuple[str, str, str | None], list[RankDifference]] = {}
    for each in differences:
        groups.setdefault((each.what, each.kind, each.role), []).append(each)
    return [_merged(group) for group in groups.values()]


def _merged(group: Sequence[RankDifference]) -> RankDifference:
    first = group[0]
    rates = [each.per_step for each in group if each.per_step is not None]
    return RankDifference(
        what=first.what,
        kind=first.kind,
        ranks=tuple(sorted(rank for each in group for rank in each.ranks)),
        since_step=min(each.since_step for each in group),
        bytes_more=max(each.bytes_more for each in group),
        per_step=float(np.median(rates)) if rates else None,
        role=first.role,
    )


def _slowest_pauses(ranks: Sequence[RankRows]) -> float:
    moments = {moment for each in ranks for moment in each.pauses}
    return sum(max(each.pauses.get(moment, 0.0) for each in ranks) for moment in moments)
