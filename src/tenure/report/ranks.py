"""Ranks beside each other as text for a terminal: one short block for any number of them."""

from __future__ import annotations

from collections.abc import Iterator

from tenure.analysis.watching.rank_notes import describe_bad_ends
from tenure.model.ranks import MOST_TOLD, EarlyEnd, RankComparison, RankDifference, name_ranks
from tenure.model.units import format_bytes, format_duration
from tenure.report.outlook import NAMES, render_rows


def render_ranks(compared: RankComparison, *, width: int, ascii_only: bool = False) -> str:
    """One block of lines of at most `width`, where words allow; ends with a line break."""
    return render_rows(_rows(compared), width=width, ascii_only=ascii_only)


def ranks_as_dict(compared: RankComparison) -> dict[str, object]:
    """The same for `--json`."""
    from dataclasses import asdict

    return asdict(compared)


def _rows(compared: RankComparison) -> Iterator[tuple[str, str]]:
    yield "ranks", _describe_all(compared)
    for difference in compared.differences:
        yield "", describe_difference(difference)
    if not compared.differences:
        yield "", "none grows more than the others"
    for level in compared.levels:
        yield (
            "",
            f"{_name(level.what)} differs from the beginning, by a constant: from {format_bytes(level.lowest_bytes)} "
            f"(rank {level.lowest_rank}) to {format_bytes(level.highest_bytes)} (rank {level.highest_rank})",
        )
    if compared.ends:
        yield "", describe_bad_ends(compared.ends)
    for end in compared.only_early[:MOST_TOLD]:
        yield "", _describe_end(end)
    if len(compared.only_early) > MOST_TOLD:
        yield "", f"{len(compared.only_early) - MOST_TOLD} more ranks ended before the others"
    if compared.counted:
        least, most = (f(compared.counted, key=compared.counted.__getitem__) for f in (min, max))
        yield (
            "",
            f"steps are counted differently: rank {least} was at {compared.counted[least]:,} when rank {most} was at "
            f"{compared.counted[most]:,}; they are compared at equal numbers",
        )
    for node, seconds in compared.clock_seconds.items():
        if seconds > 0:
            yield "", f"the clock of {node} is {seconds:.2f} s ahead of the others', by the ends of steps"


def describe_difference(difference: RankDifference) -> str:
    """One sentence: which ranks, what, how fast, since when, of which role."""
    verb = "has" if len(difference.ranks) == 1 else "have"
    what, more = _name(difference.what), format_bytes(difference.bytes_more)
    of_role = ""
    if difference.role is not None and difference.role != difference.what:
        of_role = f", mostly {_name(difference.role)}"
    if difference.kind == "rose":
        return f"{name_ranks(difference.ranks)} {verb} {more} more {what} than the others since step " + (
            f"{difference.since_step:,}, once{of_role}"
        )
    return (
        f"{name_ranks(difference.ranks)}: {what} +{format_bytes(difference.per_step or 0.0)} per step beyond the "
        f"others since step {difference.since_step:,}; {more} more by now{of_role}"
    )


def _describe_all(compared: RankComparison) -> str:
    nodes = {run.node for run in compared.runs}
    text = f"{len(compared.runs)} on {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}"
    text += f" · compared up to step {compared.common_steps:,}"
    if compared.missing:
        text += f" · nothing recorded of {name_ranks(compared.missing)}"
    if compared.num_attempts_before:
        text += f" · {compared.num_attempts_before} recordings from before a restart left out"
    if compared.census_seconds:
        text += (
            f" · censuses paused the run for {format_duration(compared.census_seconds)}, by the slowest rank of each"
        )
    return text


def _describe_end(end: EarlyEnd) -> str:
    how = "no end was recorded" if end.end is None else end.end
    return f"rank {end.rank} ended at step {end.step:,} ({how}), the others at {end.others_step:,}"


def _name(what: str) -> str:
    return "other tensors" if what == "other" else NAMES.get(what, what.replace("_", " "))
