"""Snapshots of several ranks beside each other, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenure.allocator.ranks import OddRank, RanksCompared, RankSummary
from tenure.model.ranks import name_ranks
from tenure.model.units import format_bytes
from tenure.report.block_words import role_text
from tenure.report.outlook import render_rows

_MOST_RANKS = 8
_MOST_ODD = 8


def render_ranks_compared(
    compared: RanksCompared, moment: str, num_others: int, *, width: int, ascii_only: bool = False
) -> str:
    """The odd ranks, and a line for each where there are few."""
    return render_rows(_rows(compared, moment, num_others), width=width, ascii_only=ascii_only)


def ranks_compared_as_dict(compared: RanksCompared, moment: str) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "moment": moment,
        "ranks": [_summary_as_dict(each) for each in compared.ranks],
        "missing": list(compared.missing),
        "odd": [
            {
                "rank": each.rank,
                "role": each.role.name.lower(),
                "bytes_more": each.bytes_more,
                "since_step": each.since_step,
                "line": each.line,
            }
            for each in compared.odd
        ],
    }


def _rows(compared: RanksCompared, moment: str, num_others: int) -> Iterator[tuple[str, str]]:
    ranks = compared.ranks
    least, most = (choose(ranks, key=lambda each: each.active_bytes) for choose in (min, max))
    peaks = f"peaks from {format_bytes(least.active_bytes)} (rank {least.rank}) to {format_bytes(most.active_bytes)} "
    others = f"; {num_others:,} files of other moments are left out" if num_others else ""
    yield "ranks", f"{len(ranks):,} of {moment}: {peaks}(rank {most.rank}){others}"
    if compared.missing:
        yield "", f"nothing of {name_ranks(compared.missing)}"
    ran_out = [each.rank for each in ranks if each.out_of_memory]
    if ran_out:
        yield "", f"memory ran out on {name_ranks(ran_out)}"
    for odd in compared.odd[:_MOST_ODD]:
        yield f"rank {odd.rank}", _odd_text(odd)
    if not compared.odd:
        yield "", "none differs from the others by a twentieth of the peak in any role"
    for summary in ranks if len(ranks) <= _MOST_RANKS else ():
        roles = " · ".join(
            f"{role_text(role)} {format_bytes(size)}" for role, size in list(summary.at_peak.items())[:3]
        )
        reserved = format_bytes(summary.reserved_bytes)
        text = f"{format_bytes(summary.active_bytes)} in use at the peak, {reserved} reserved: {roles}"
        yield f"rank {summary.rank}", text


def _odd_text(odd: OddRank) -> str:
    more = "more" if odd.bytes_more > 0 else "less"
    since = "" if odd.since_step is None else f", since step {odd.since_step} of the trace"
    size = format_bytes(abs(odd.bytes_more))
    return f"{size} {more} {role_text(odd.role)} at its most than the others' median{since}: {odd.line}"


def _summary_as_dict(summary: RankSummary) -> dict[str, Any]:
    return {
        "rank": summary.rank,
        "active_bytes": summary.active_bytes,
        "reserved_bytes": summary.reserved_bytes,
        "events": summary.num_events,
        "out_of_memory": summary.out_of_memory,
        "at_peak": {role.name.lower(): size for role, size in summary.at_peak.items()},
        "by_role": {role.name.lower(): size for role, size in summary.by_role.items()},
        "by_step": [{role.name.lower(): size for role, size in step.items()} for step in summary.by_step],
    }
