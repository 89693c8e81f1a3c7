"""A run's recordings, followed while they grow: one in full, of all others what a line of a table needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tenure.errors import RecordingError
from tenure.live.close_reading import CloseReading
from tenure.live.running import is_running
from tenure.live.view import ProcessLine, ProcessView, RunView, make_view, name_of
from tenure.store.following import FollowedRecording
from tenure.store.glances import Glance, GlancedRecording
from tenure.store.recording_file import list_recordings

FEW = 8
"""So many processes are read closely within each look; of more that is done beside it."""
MOST_FOLLOWED = 4
"""Processes whose rows are kept in memory once they were shown: some megabytes each."""
ALLOCATED, RESIDENT = "allocated_bytes", "rss_bytes"


class WatchedRun:
    """Opened for a run's folder for as long as somebody watches; `look` is called by one thread at a time, and
    `look_closer` by one."""

    def __init__(self, folder: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = folder
        self._clock = clock
        self._glanced: dict[str, GlancedRecording] = {}
        self._since: dict[str, tuple[int, float]] = {}
        self._shown: dict[str, _Shown] = {}
        self._close = CloseReading()

    def look(self, position: int = 0) -> RunView:
        """Each process that has recorded something by now, in the order of folders, and in full the one at `position`:
        a tenth of a second, and a millisecond for each process of which something is new.

        RecordingError where the folder is gone.
        """
        if self._glanced and not Path(self.folder).is_dir():
            raise RecordingError(f"{self.folder} is gone")
        seen = [glance for path in list_recordings(self.folder) if (glance := self._glance(path)) is not None]
        if not seen:
            return RunView(())
        if len(seen) > 1:
            self._close.take(seen)
        if len(seen) <= FEW:
            self._close.read_all()
        shown = self._view(seen[min(position, len(seen) - 1)])
        return RunView(tuple(map(self._line, seen)), shown, self._close.ranks, self._close.num_unread)

    def look_closer(self) -> bool:
        """Read more of the processes than their last rows, as much as takes a part of a second; whether there is more
        that was never read."""
        return self._close.read_some()

    def _glance(self, path: str) -> Glance | None:
        """None where it has only begun."""
        try:
            found = self._glanced.setdefault(path, GlancedRecording(path, (ALLOCATED, RESIDENT))).look()
        except RecordingError:
            return None
        if self._since.get(path, (-1, 0.0))[0] != found.steps:
            self._since[path] = found.steps, self._clock()
        return found

    def _view(self, glance: Glance) -> ProcessView | None:
        shown = self._shown.pop(glance.path, None) or _Shown(glance.path, self.folder)
        self._shown[glance.path] = shown
        while len(self._shown) > MOST_FOLLOWED:
            del self._shown[next(iter(self._shown))]
        try:
            view = shown.view()
        except RecordingError:
            return None
        return replace(view, quiet_seconds=self._clock() - self._since[glance.path][1])

    def _line(self, glance: Glance) -> ProcessLine:
        return ProcessLine(
            path=glance.path,
            name=name_of(glance.path, glance.process, self.folder),
            steps=glance.steps,
            allocated_bytes=glance.counters.get(ALLOCATED),
            resident_bytes=glance.counters.get(RESIDENT),
            growth=self._close.growth.get(glance.path),
            end=glance.end,
            running=is_running(glance.process) if glance.end is None else None,
        )


class _Shown:
    """One process that is shown, or was: its rows, and the view that was made of them."""

    def __init__(self, path: str, run_folder: str) -> None:
        self._followed = FollowedRecording(path)
        self._run_folder = run_folder
        self._seen: tuple[object, ...] = ()
        self._made: ProcessView | None = None

    def view(self) -> ProcessView:
        """Made anew only where rows came."""
        recording = self._followed.read()
        steps, samples = len(recording.steps), len(recording.samples)
        seen = (steps, samples // 10, len(recording.censuses), len(recording.notes), recording.end)
        if self._made is None or seen != self._seen:
            self._made = make_view(recording, run_folder=self._run_folder)
            self._seen = seen
        running = is_running(recording.process) if recording.end is None else None
        return replace(self._made, outlook=replace(self._made.outlook, running=running))
