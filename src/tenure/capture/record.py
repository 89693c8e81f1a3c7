"""`tenure.record()`: record a part of a program from its own code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tenure.capture.monitor import Monitor
from tenure.capture.options import MonitorOptions, read_percent
from tenure.capture.system.ranks import find_place
from tenure.capture.writing.folders import BUDGET_VARIABLE, MAX_ATTEMPTS, SWITCH_VARIABLE
from tenure.errors import UsageError
from tenure.store.format import name_attempt, name_process_folder
from tenure.store.new_folder import check_free, name_recording


class Run:
    """A recording in progress. Without `step()` the optimizer's steps (or root module calls) are the steps."""

    def __init__(self, folder: Path, monitor: Monitor | None) -> None:
        self.path = str(folder)
        """The recording's folder, made at the first step: `tenure diagnose` reads it, now or later."""
        self._monitor = monitor

    @contextmanager
    def step(self) -> Iterator[None]:
        """Mark one step. An exception inside is passed on, and the step is not counted."""
        if self._monitor is not None:
            self._monitor.begin_step()
        yield
        if self._monitor is not None:
            self._monitor.end_step()

    def census(self) -> str | None:
        """Take a census now; the name of its file, or None where recording is off. Costs about one gc.collect()."""
        return self._monitor.request_census() if self._monitor is not None else None


@contextmanager
def record(
    path: str | os.PathLike[str] | None = None,
    *,
    census_at: Sequence[int] | None = None,
    budget_percent: float = 1.0,
) -> Iterator[Run]:
    """Record what runs inside the `with` block into a new folder; diagnose it afterwards.

    Changes nothing in the program: holds weak references, never synchronises or collects. `census_at` names the
    steps to take a census after, instead of the usual schedule. `budget_percent` is the share of the time that the
    recorder may take; `TENURE_BUDGET` in the environment replaces it. Does nothing under `TENURE=0`.
    With several ranks each records below the folder: `path` is to be the same on all.
    """
    folder = Path(path) if path is not None else Path(name_recording(sys.argv[0] if sys.argv else ""))
    if os.environ.get(SWITCH_VARIABLE) == "0":
        yield Run(folder, None)
        return
    folder = _find_free(folder)
    options = MonitorOptions(
        census_at=None if census_at is None else tuple(census_at),
        budget_percent=_read_budget(os.environ.get(BUDGET_VARIABLE), budget_percent),
    )
    monitor = Monitor(lambda: _make_folder(folder), options=options)
    try:
        yield Run(folder, monitor)
    except BaseException:
        monitor.close("exception")
        raise
    monitor.close()


def _find_free(folder: Path) -> Path:
    """The folder itself, or below it that of this rank; UsageError where something lies in the way."""
    place = None
    with suppress(Exception):  # a failure of ours stops no program
        place = find_place()
    if place is None or place.rank is None or not place.has_others:
        check_free(folder)
        return folder
    name = name_process_folder(rank=place.rank, pid=os.getpid())
    attempts = (folder / name_attempt(name, attempt) for attempt in range(1, MAX_ATTEMPTS))
    return next(free for free in attempts if not free.exists())


def _read_budget(asked: str | None, given: float) -> float:
    if asked is None:
        return given
    try:
        return read_percent(asked)
    except ValueError as error:
        raise UsageError(f"{BUDGET_VARIABLE}: {error}") from None


def _make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
