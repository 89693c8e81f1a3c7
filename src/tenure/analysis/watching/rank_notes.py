"""What a comparison of ranks adds to a diagnosis: growth on some ranks that no finding explains, and who ended how."""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timezone
from itertools import groupby

from tenure.model.ranks import RankComparison, RankDifference, RankEnd, name_ranks
from tenure.model.units import format_bytes

HOST_COUNTER = "rss_bytes"


def describe_beyond_findings(
    compared: RankComparison,
    growing: Collection[int],
    *,
    growing_on_host: Collection[int] = (),
    without_census: Collection[int] = (),
) -> Iterator[str]:
    """Sentences; `growing` are the ranks on which a finding tells of growth, `growing_on_host` those on which one tells
    of the process's memory alone, `without_census` those where none could be made."""
    for difference in compared.differences:
        told = {*growing, *(growing_on_host if difference.what == HOST_COUNTER else ())}
        left = [rank for rank in difference.ranks if rank not in told]
        if left and difference.kind == "grows":
            yield _describe_growth(difference, left, [rank for rank in left if rank in without_census])
    if without_census:
        ranks = sorted(without_census)
        yield f"{name_ranks(ranks)} took no census: look into one with `tenure run --census-ranks {ranks[0]}`"
    if compared.ends:
        yield describe_bad_ends(compared.ends)
    for early in compared.only_early:
        yield f"rank {early.rank} ended at step {early.step:,}, the others at {early.others_step:,}"


def describe_bad_ends(ends: Sequence[RankEnd]) -> str:
    """`rank 1 ended first, by signal 9 (SIGKILL) after step 128, at ...; then rank 0 by signal 15 (SIGTERM) ...`."""
    first, *rest = ends
    at = "" if first.time is None else f", at {datetime.fromtimestamp(first.time, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    alone = "ended" if not rest else "ended first,"
    parts = [f"rank {first.rank} {alone} {_how(first)} after step {first.step:,}{at}"]
    for _, group in groupby(rest, key=lambda end: end.code):
        parts.append(_describe_later(list(group), first))
    return "; then ".join(parts)


def _describe_later(ends: Sequence[RankEnd], first: RankEnd) -> str:
    time, step = ends[0].time, max(end.step for end in ends)
    later = "" if time is None or first.time is None else f", {time - first.time:.1f} s later"
    return f"{name_ranks(sorted(end.rank for end in ends))} {_how(ends[0])}{later}, after step {step:,}"


def _how(end: RankEnd) -> str:
    if end.code >= 0:
        return f"with exit code {end.code}"
    try:
        return f"by signal {-end.code} ({signal.Signals(-end.code).name})"
    except ValueError:
        return f"by signal {-end.code}"


def _describe_growth(difference: RankDifference, ranks: Sequence[int], unseen: Sequence[int]) -> str:
    what = difference.what.removesuffix("_bytes").replace("_", " ")
    rate = format_bytes(difference.per_step or 0.0)
    why = "no finding explains it there"
    if unseen:
        why = f"no census was taken {'there' if len(unseen) == len(ranks) else 'on ' + name_ranks(unseen)}"
    return (
        f"{name_ranks(ranks)}: {what} grows by {rate} per step beyond the other ranks since step "
        f"{difference.since_step:,}, and {why}"
    )
