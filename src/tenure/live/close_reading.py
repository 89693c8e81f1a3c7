"""The rows of many processes, read a few at a time and let go: what is kept of each is its growth and some medians."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from tenure.analysis.watching.outlook import read_growth
from tenure.analysis.watching.rank_rows import RankRows, brought_up_to, read_rank
from tenure.analysis.watching.ranks import compare_rows
from tenure.errors import RecordingError
from tenure.model.outlook import CounterGrowth
from tenure.model.ranks import RankComparison
from tenure.model.recording import Recording
from tenure.store.glances import Glance
from tenure.store.recording_file import open_recording

AT_ONCE = 8
"""Processes that are read together: a quarter of a second."""


class CloseReading:
    """`take` says what there is; reading goes in rounds over what has changed since it was read last.

    A round reads all ranks for their comparison, compares them, then looks for growth in all processes: so the
    comparison of hundreds does not wait for the latter.
    """

    def __init__(self) -> None:
        self.growth: dict[str, tuple[CounterGrowth, ...]] = {}
        self.ranks: RankComparison | None = None
        self._glances: dict[str, Glance] = {}
        self._rows: dict[str, RankRows | None] = {}
        self._marks: dict[tuple[str, str], object] = {}
        self._jobs: deque[Callable[[], None]] = deque()
        self._reading = threading.Lock()

    @property
    def num_unread(self) -> int:
        """Processes in which growth was never looked for."""
        return sum(path not in self.growth for path in self._glances)

    def take(self, glances: Sequence[Glance]) -> None:
        """The processes as they are now."""
        self._glances = {glance.path: glance for glance in glances}

    def read_all(self) -> None:
        """What is left of the round, or a whole one."""
        with self._reading:
            for job in self._jobs or self._round():
                job()
            self._jobs.clear()

    def read_some(self) -> bool:
        """The next part of a round: some processes, or the comparison; whether some were never read."""
        with self._reading:
            self._jobs = self._jobs or self._round()
            if self._jobs:
                self._jobs.popleft()()
        return self.num_unread > 0

    def _round(self) -> deque[Callable[[], None]]:
        ranks = [path for path, glance in self._glances.items() if glance.process.get("rank") is not None]
        rows, growth = self._changed("rows", ranks), self._changed("growth", self._glances)
        jobs: list[Callable[[], None]] = [partial(self._read_rows, part) for part in _parts(rows)]
        jobs += [self._compare] if rows else []
        return deque([*jobs, *(partial(self._read_growth, part) for part in _parts(growth))])

    def _changed(self, what: str, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if self._marks.get((what, path)) != _mark(self._glances[path])]

    def _read_rows(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._rows[path] = self._read(path, "rows", read_rank)

    def _read_growth(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.growth[path] = self._read(path, "growth", read_growth) or ()

    def _read(self, path: str, what: str, read: Callable[[Recording], Any]) -> Any:
        """None where it can no longer be read."""
        glance = self._glances.get(path)
        self._marks[what, path] = None if glance is None else _mark(glance)
        try:
            return read(open_recording(path))
        except (RecordingError, OSError):
            return None

    def _compare(self) -> None:
        read = ((glance, self._rows.get(path)) for path, glance in self._glances.items())
        self.ranks = compare_rows(_up_to_now(rows, glance) for glance, rows in read if rows is not None)


def _parts(paths: Sequence[str]) -> list[Sequence[str]]:
    return [paths[start : start + AT_ONCE] for start in range(0, len(paths), AT_ONCE)]


def _mark(glance: Glance) -> tuple[object, ...]:
    return glance.steps, glance.end, glance.program_end


def _up_to_now(rows: RankRows, glance: Glance) -> RankRows:
    origin = glance.process.get("time_origin")
    ended_at = None if origin is None else float(origin) + glance.seconds
    return brought_up_to(rows, step=glance.steps, ended_at=ended_at, end=glance.end, program_end=glance.program_end)
