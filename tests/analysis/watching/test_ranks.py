"""Ranks whose truth is known, compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.watching.simulated import KIB, MIB, allocator, filling, jumps, resident, sawing, walking
from tenure.analysis.watching.rank_notes import describe_bad_ends, describe_beyond_findings
from tenure.analysis.watching.ranks import compare_ranks
from tenure.model.ranks import EarlyEnd, RankComparison, RankDifference, RankLevels
from tenure.model.recording import CensusEntry, Note, ProgramEnd, Recording, Step
from tenure.model.row_columns import RowColumns

Counters = dict[str, np.ndarray]
CENSUSES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)


def rank(
    number: int,
    counters: Counters,
    *,
    seconds: float = 0.1,
    origin: float | None = 1e9,
    end: str | None = "exit",
    roles: Callable[[int], dict[str, int]] | None = None,
    **process: Any,
) -> Recording:
    length = max(len(values) for values in counters.values())
    steps = [
        Step(at + 1, seconds * (at + 1), seconds, {name: int(values[at]) for name, values in counters.items()})
        for at in range(length)
    ]
    censuses = [CensusEntry(step, "step-end", "", 0.1 * (number + 1), 1, roles(step)) for step in CENSUSES if roles]
    return Recording(
        path=f"rank-{number:05d}",
        process={"rank": number, "time_origin": origin, "node": "one", "world_size": 2, **process},
        steps=steps,
        censuses=tuple(censuses),
        notes=(),
        sources={},
        end=None if end is None else {"reason": end},
    )


def compared(*ranks: Recording) -> RankComparison:
    found = compare_ranks(ranks)
    assert found is not None
    return found


def level(length: int, bytes_each: float = 900 * MIB) -> np.ndarray:
    return np.full(length, bytes_each)


def test_a_leak_of_one_rank_is_told_with_its_beginning_its_rate_and_its_role() -> None:
    leak = 64 * KIB * np.maximum(0, np.arange(1, 1001) - 40)
    roles = lambda leaks: lambda step: {"activation": 5000 + leaks * 65536 * max(0, step - 40), "parameter": 99}  # noqa: E731

    found = compared(
        rank(0, {"allocated_bytes": level(1000)}, roles=roles(0)),
        rank(1, {"allocated_bytes": level(1000) + leak}, roles=roles(1)),
    )

    of_counter, *rest = found.differences
    assert (of_counter.what, of_counter.kind, of_counter.ranks, of_counter.role) == (
        *("allocated_bytes", "grows", (1,), "activation"),
    )
    assert of_counter.per_step == pytest.approx(64 * KIB, rel=0.01)
    assert abs(of_counter.since_step - 40) <= 15
    assert of_counter.bytes_more == pytest.approx(960 * 64 * KIB, rel=0.03)
    assert (rest, found.levels) == ([], ())
    assert found.census_seconds == pytest.approx(0.2 * len(CENSUSES))
    assert (found.ended_early, found.counted, found.clock_seconds, found.missing) == ((), {}, {}, ())


def test_a_role_that_makes_what_a_counter_tells_is_told_with_it_and_not_again() -> None:
    leak = 64 * KIB * np.arange(1.0, 1001)
    roles = lambda leaks: lambda step: {"activation": 5000 + leaks * 65536 * step, "parameter": 99 + leaks * step}  # noqa: E731

    found = compared(
        rank(0, {"allocated_bytes": level(1000)}, roles=roles(0)),
        rank(1, {"allocated_bytes": level(1000) + leak}, roles=roles(1)),
    )

    told = [(each.what, each.role) for each in found.differences]
    assert told == [("allocated_bytes", "activation"), ("parameter", "parameter")]


def test_without_a_counter_a_role_of_the_censuses_tells_the_rank() -> None:
    roles = lambda leaks: lambda step: {"activation": 5000 + leaks * 4096 * step, "parameter": 99}  # noqa: E731

    found = compared(*(rank(each, {"x": level(96)}, roles=roles(each == 2), world_size=4) for each in range(4)))

    assert found.differences == (RankDifference("activation", "grows", (2,), 4, 92 * 4096, 4096.0, "activation"),)


def test_ranks_of_one_pipeline_stage_are_told_together() -> None:
    rng = np.random.default_rng(1)
    rows = [resident(rng, 2000) for _ in range(8)]
    for each in (3, 7):
        rows[each] += 256 * KIB * np.arange(2000)

    found = compared(*(rank(each, {"rss_bytes": row}, world_size=8) for each, row in enumerate(rows)))

    assert [(each.kind, each.ranks) for each in found.differences if each.kind == "grows"] == [("grows", (3, 7))]


def test_what_all_ranks_leak_alike_is_no_difference() -> None:
    leak = 64 * KIB * np.arange(1000)

    assert compared(*(rank(each, {"allocated_bytes": level(1000) + leak}) for each in range(4))).differences == ()


def test_a_rank_that_holds_more_by_design_differs_by_a_constant() -> None:
    found = compared(*(rank(each, {"allocated_bytes": level(500, (each + 1) * 100 * MIB)}) for each in range(4)))

    assert found.differences == ()
    assert found.levels == (RankLevels("allocated_bytes", 0, int(100 * MIB), 3, int(400 * MIB)),)


def test_a_rank_that_takes_more_once_has_risen_and_does_not_grow() -> None:
    once = np.where(np.arange(1000) >= 600, 300 * MIB, 0)
    found = compared(*(rank(each, {"allocated_bytes": level(1000) + once * (each == 0)}) for each in range(3)))

    (told,) = found.differences
    assert (told.kind, told.ranks, told.bytes_more, told.per_step) == ("rose", (0,), int(300 * MIB), None)
    assert abs(told.since_step - 600) <= 4


def test_a_leak_that_begins_late_in_a_long_run_is_found_in_its_last_steps() -> None:
    late = 64 * KIB * np.maximum(0, np.arange(40_000) - 38_800)
    found = compared(*(rank(each, {"allocated_bytes": level(40_000) + late * (each == 1)}) for each in range(2)))

    (told,) = found.differences
    assert (told.kind, told.ranks) == ("grows", (1,))
    assert abs(told.since_step - 38_800) <= 50


def test_a_rank_that_died_is_told_with_its_last_step() -> None:
    rows = {each: {"allocated_bytes": level(812 if each == 3 else 1000)} for each in range(4)}
    found = compared(*(rank(each, row, end=None if each == 3 else "exit", world_size=5) for each, row in rows.items()))

    assert found.ended_early == (EarlyEnd(3, 812, 1000, None),)
    assert (found.missing, found.common_steps, found.differing) == ((4,), 812, (3,))


def test_ranks_that_still_run_end_nowhere() -> None:
    rows = {each: {"allocated_bytes": level(1000 - each)} for each in range(4)}

    assert compared(*(rank(each, row, end=None) for each, row in rows.items())).ended_early == ()


def test_ranks_that_count_steps_differently_are_told_by_their_counts() -> None:
    found = compared(rank(0, {"allocated_bytes": level(1000)}), rank(1, {"allocated_bytes": level(2000)}, seconds=0.05))

    assert found.counted == {0: 1000, 1: 2000}


def test_a_nodes_clock_is_told_by_step_ends_and_a_slow_rank_is_no_clock() -> None:
    rows = {"allocated_bytes": level(500)}
    found = compared(
        rank(0, rows, node="a"),
        rank(1, rows, node="a"),
        rank(2, rows, node="b", origin=1e9 + 2.5),
        rank(3, rows, node="a"),
    )

    assert found.clock_seconds == {"a": -2.5, "b": 2.5}
    assert compared(rank(0, rows), rank(1, rows, origin=1e9 + 0.3)).clock_seconds == {}


def test_of_each_rank_the_newest_recording_after_the_last_restart_is_compared() -> None:
    rows = {"allocated_bytes": level(200)}
    found = compared(
        rank(0, rows, time=1.0, restart=0),
        rank(1, rows, time=1.0, restart=0),
        rank(0, rows, time=5.0, restart=1),
        rank(1, rows, time=6.0, restart=1),
    )

    assert (len(found.runs), found.num_attempts_before) == (2, 2)


def test_a_diagnosis_is_told_what_grows_where_no_finding_explains_it_and_who_ended_early() -> None:
    leak = 64 * KIB * np.arange(1000)
    rows = [{"rss_bytes": level(1000) + leak * (each in (1, 2))} for each in range(4)]
    rows[3] = {"rss_bytes": level(812)}
    found = compared(*(rank(each, row, end=None if each == 3 else "exit") for each, row in enumerate(rows)))

    assert list(describe_beyond_findings(found, {2})) == [
        "rank 1: rss grows by 64.00 KiB per step beyond the other ranks since step 1, and no finding explains it there",
        "rank 3 ended at step 812, the others at 1,000",
    ]
    assert list(describe_beyond_findings(found, {2}, growing_on_host={1}))[:-1] == []
    assert list(describe_beyond_findings(found, (), without_census={1, 2})) == [
        "ranks 1-2: rss grows by 64.00 KiB per step beyond the other ranks since step 1, and no census was taken there",
        "ranks 1-2 took no census: look into one with `tenure run --census-ranks 1`",
        "rank 3 ended at step 812, the others at 1,000",
    ]


def test_which_rank_ended_first_is_told_with_its_signal_and_who_was_ended_after_it() -> None:
    rows = [{"allocated_bytes": level(steps)} for steps in (150, 128, 150, 149)]
    ends = [ProgramEnd(-15, 1000000.5), ProgramEnd(-9, 1000000.2), ProgramEnd(-15, 1000000.6), ProgramEnd(7, None)]
    killed = [
        replace(rank(each, row, end=None), notes=(Note("info", "ended", None, end),))
        for each, (row, end) in enumerate(zip(rows, ends, strict=True))
    ]
    found = compared(*killed)

    assert [(end.rank, end.code, end.step) for end in found.ends] == [
        *((1, -9, 128), (0, -15, 150), (2, -15, 150), (3, 7, 149)),
    ]
    assert (found.differing, [run.end for run in found.runs]) == (
        (1,),
        ["signal 15", "signal 9", "signal 15", "exit code 7"],
    )
    assert describe_bad_ends(found.ends) == (
        "rank 1 ended first, by signal 9 (SIGKILL) after step 128, at 1970-01-12 13:46:40 UTC; then ranks 0, 2 by "
        "signal 15 (SIGTERM), 0.3 s later, after step 150; then rank 3 with exit code 7, after step 149"
    )
    assert list(describe_beyond_findings(found, ())) == [describe_bad_ends(found.ends)]
    assert describe_bad_ends(found.ends[-1:]) == "rank 3 ended with exit code 7 after step 149"


def test_one_rank_has_nothing_to_be_compared_with() -> None:
    assert compare_ranks([rank(0, {"allocated_bytes": level(200)}), rank(0, {"allocated_bytes": level(200)})]) is None


def test_of_a_long_recording_only_the_columns_that_are_compared_are_read() -> None:
    asked: list[str] = []
    names = ("step", "time", "seconds", "counters.rss_bytes", "counters.active_bytes", "counters.num_ooms")

    def load(name: str) -> np.ndarray:
        asked.append(name)
        return np.arange(1, 301)

    rows = RowColumns(names, load, Step, per_second=1_000_000, missing=-1)
    compared(*(replace(rank(each, {"x": level(1)}), steps=rows) for each in range(2)))

    assert sorted(set(asked)) == ["counters.rss_bytes", "step", "time"]


@pytest.mark.slow
@pytest.mark.parametrize("num_ranks", [2, 8, 64])
def test_of_a_hundred_healthy_runs_at_most_one_has_a_rank_that_is_told_to_grow(num_ranks: int) -> None:
    rng = np.random.default_rng(num_ranks)
    kinds = (jumps, filling, sawing, walking, lambda rng, steps: np.zeros(steps))
    told = 0
    for run in range(100 if num_ranks < 64 else 25):
        base, kind = (allocator, resident)[run % 2], kinds[run % len(kinds)]
        rows = [base(rng, 1000) + kind(rng, 1000) for _ in range(num_ranks)]
        found = compared(*(rank(each, {"rss_bytes": row}) for each, row in enumerate(rows)))
        told += any(each.kind == "grows" for each in found.differences)

    assert told <= 1


@pytest.mark.slow
@pytest.mark.parametrize("num_ranks", [2, 8, 64])
def test_a_leak_on_one_rank_is_found_in_95_of_100_runs(num_ranks: int) -> None:
    rng = np.random.default_rng(num_ranks)
    found = 0
    runs = 40 if num_ranks < 64 else 20
    for run in range(runs):
        leak = (64 if run % 2 else 4) * KIB
        rows = [(resident if run % 2 else allocator)(rng, 1000) for _ in range(num_ranks)]
        rows[1] = rows[1] + leak * np.arange(1000)
        name = "rss_bytes" if run % 2 else "allocated_bytes"
        told = compared(*(rank(each, {name: row}) for each, row in enumerate(rows)))
        found += [each.ranks for each in told.differences if each.kind == "grows"] == [(1,)]

    assert found >= 0.95 * runs


@pytest.mark.slow
@pytest.mark.parametrize("num_ranks", [2, 8, 64])
def test_roles_whose_sizes_come_and_go_are_told_of_no_rank(num_ranks: int) -> None:
    rng = np.random.default_rng(num_ranks)

    def sizes() -> dict[str, int]:
        return {
            "activation": int(rng.integers(1e6, 9e6)),
            "gradient": int(rng.normal(5e6, 1e5)),
            "other": int(rng.choice([1000, 2000, 5000])),
            "parameter": 10_000_000,
        }

    def healthy(number: int) -> Recording:
        drawn = {step: sizes() for step in CENSUSES}
        return rank(number, {"x": level(3)}, roles=drawn.__getitem__)

    runs = 100 if num_ranks < 64 else 25
    assert sum(bool(compared(*map(healthy, range(num_ranks))).differences) for _ in range(runs)) <= 1
