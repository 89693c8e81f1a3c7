"""What several ranks of one run say beside each other: which differ, since when, in what and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["grows", "rose"]


@dataclass(frozen=True)
class RankRun:
    """One rank's newest recording. `end` is None while it runs, and after a kill or crash."""

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
class RankComparison:
    """The ranks of one run, compared at equal step numbers up to `common_steps`.

    `missing` are ranks of the world that have no recording here. `counted` are steps by rank at one moment, where
    ranks count differently, else empty. `clock_seconds` says how far a node's clock is ahead of the others', by step
    ends that are simultaneous; empty where nothing can be told. `census_seconds` sums the slowest rank's pause of
    each census, for which the others wait; `num_attempts_before` counts recordings from before a restart.
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

    @property
    def differing(self) -> tuple[int, ...]:
        """The ranks that differ or ended early, in order."""
        told = {rank for each in self.differences for rank in each.ranks} | {each.rank for each in self.ended_early}
        return tuple(sorted(told))
