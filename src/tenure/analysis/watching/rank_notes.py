"""What a comparison of ranks adds to a diagnosis: growth on some ranks that no finding explains, and early ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenure.model.ranks import RankComparison
from tenure.model.units import format_bytes


def describe_beyond_findings(compared: RankComparison, growing: Collection[int]) -> Iterator[str]:
    """Sentences; `growing` are the ranks on which a finding tells of growth."""
    for difference in compared.differences:
        left = [rank for rank in difference.ranks if rank not in growing]
        if left and difference.kind == "grows":
            what = difference.what.removesuffix("_bytes").replace("_", " ")
            rate = format_bytes(difference.per_step or 0.0)
            yield (
                f"{_name(left)}: {what} grows by {rate} per step beyond the other ranks since step "
                f"{difference.since_step:,}, and no finding explains it there"
            )
    for end in compared.ended_early:
        yield f"rank {end.rank} ended at step {end.step:,}, the others at {end.others_step:,}"


def _name(ranks: list[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else "ranks " + ", ".join(map(str, ranks))
