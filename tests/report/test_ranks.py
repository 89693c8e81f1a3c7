from __future__ import annotations

from tenure.model.ranks import EarlyEnd, RankComparison, RankDifference, RankLevels, RankRun, name_ranks
from tenure.report.ranks import render_ranks

MIB = 1 << 20


def test_one_block_says_who_differs_in_what_since_when_and_by_how_much() -> None:
    compared = RankComparison(
        runs=tuple(RankRun(rank, f"node-{rank // 2}", "", 1000, "exit") for rank in range(4)),
        missing=(4, 5, 7),
        common_steps=812,
        differences=(
            RankDifference("allocated_bytes", "grows", (1, 3), 400, 12 * MIB, 2048.0, "activation"),
            RankDifference("rss_bytes", "rose", (0,), 1200, 300 * MIB, None),
        ),
        levels=(RankLevels("reserved_bytes", 0, 3 << 30, 3, 5 << 30),),
        ended_early=(EarlyEnd(3, 812, 1000, None),),
        counted={0: 1000, 1: 2000},
        clock_seconds={"node-0": -2.5, "node-1": 2.5},
        census_seconds=90.0,
        num_attempts_before=2,
    )

    assert render_ranks(compared, width=300).splitlines() == [
        "ranks         4 on 2 nodes · compared up to step 812 · nothing recorded of ranks 4-5, 7 · "
        "2 recordings from before a restart left out · censuses paused the run for 90 s, by the slowest rank of each",
        "              ranks 1, 3: allocated +2.00 KiB per step beyond the others since step 400; 12.00 MiB more by "
        "now, mostly activation",
        "              rank 0 has 300.00 MiB more resident than the others since step 1,200, once",
        "              reserved differs from the beginning, by a constant: from 3.00 GiB (rank 0) to 5.00 GiB (rank 3)",
        "              rank 3 ended at step 812 (no end was recorded), the others at 1,000",
        "              steps are counted differently: rank 0 was at 1,000 when rank 1 was at 2,000; they are "
        "compared at equal numbers",
        "              the clock of node-1 is 2.50 s ahead of the others', by the ends of steps",
    ]


def test_ranks_are_named_by_ranges_and_very_many_are_counted() -> None:
    assert [name_ranks((3,)), name_ranks((0, 3, 4, 5, 9))] == ["rank 3", "ranks 0, 3-5, 9"]
    assert name_ranks(tuple(range(0, 100, 2))) == "ranks 0, 2, 4, 6, 8, 10 and more, 50 in all"
