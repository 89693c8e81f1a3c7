"""What several ranks of one run say beside each other: which differ, since when, in what and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Kind = Literal["grows", "rose"]
MOST_TOLD = 6
"""Early ends, and ranks of one difference, before the rest is only counted."""


@dataclass(frozen=True)
class RankRun:
    """One rank's newest recording. `end` is None while it runs, and after a kill or crash that no launcher saw."""

    rank: int
    node: str | None
    path: str
    steps: int
    end: str | None


@dataclass(frozen=True)
class RankDifference:
    """`ranks` have ever more of `what` than the others (`grows`), or since one step (`rose`).

    `what` is a counter (`allocated_bytes`) or a role of storages (`activation`); `bytes_more` the difference at the
    last step that is compared, of the rank where it is largest; `role` what most of it is made of, where censuses
    say it.
    """

    what: str
    kind: Kind
    ranks: tuple[int, ...]
    since_step: int
    bytes_more: int
    per_step: float | None
    role: str | None = None


@dataclass(frozen=True)
class RankLevels:
    """A difference that was there from the beginning and stays: the ranks with least and most of `what`."""

    what: str
    lowest_rank: int
    lowest_bytes: int
    highest_rank: int
    highest_bytes: int


@dataclass(frozen=True)
class EarlyEnd:
    """A rank whose steps end before those of the others; `end` is None where none was recorded."""

    rank: int
    step: int
    others_step: int
    end: str | None


@dataclass(frozen=True)
class RankEnd:
    """A rank whose program did not end well, as its launcher saw it: `code` is minus a signal's number, or the exit
    code; `step` the last that reached the recording, of a killed program up to a second before its end; `time` in
    seconds since 1970, by the clock that most nodes have."""

    rank: int
    code: int
    step: int
    time: float | None


@dataclass(frozen=True)
class RankComparison:
    """The ranks of one run, compared at equal step numbers up to `common_steps`.

    `missing` are ranks of the world that have no recording here. `counted` are steps by rank at one moment, where
    ranks count differently, else empty. `clock_seconds` says how far a node's clock is ahead of the others', by step
    ends that are simultaneous; empty where nothing can be told. `census_seconds` sums the slowest rank's pause of
    each census, for which the others wait; `num_attempts_before` counts recordings from before a restart. `ends` are
    the ranks that did not end well, in the order of time: a launcher ends the others when one has failed.
    """

    runs: tuple[RankRun, ...]
    missing: tuple[int, ...]
    common_steps: int
    differences: tuple[RankDifference, ...]
    levels: tuple[RankLevels, ...]
    ended_early: tuple[EarlyEnd, ...]
    counted: dict[int, int]
    clock_seconds: dict[str, float]
    census_seconds: float
    num_attempts_before: int = 0
    ends: tuple[RankEnd, ...] = ()

    @property
    def only_early(self) -> tuple[EarlyEnd, ...]:
        """The early ends that `ends` do not tell."""
        told = {end.rank for end in self.ends}
        return tuple(each for each in self.ended_early if each.rank not in told)

    @property
    def differing(self) -> tuple[int, ...]:
        """The ranks that differ, ended early, or were the first that did not end well, in order."""
        told = {rank for each in self.differences for rank in each.ranks} | {each.rank for each in self.ended_early}
        return tuple(sorted(told | {each.rank for each in self.ends[:1]}))


def name_ranks(ranks: Sequence[int]) -> str:
    """`rank 3`, `ranks 0, 3-7` and so on; of very many ranges only the first."""
    runs = [[rank for _, rank in group] for _, group in groupby(enumerate(ranks), key=lambda each: each[1] - each[0])]
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    shown = ", ".join(parts[:MOST_TOLD]) + (f" and more, {len(ranks)} in all" if len(parts) > MOST_TOLD else "")
    return ("rank " if len(ranks) == 1 else "ranks ") + shown
