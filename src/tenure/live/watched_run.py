"""A run's recordings, followed while they grow."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tenure.analysis.watching.ranks import compare_ranks
from tenure.errors import RecordingError
from tenure.live.running import is_running
from tenure.live.view import ProcessView, RunView, make_view
from tenure.model.recording import Recording
from tenure.store.following import FollowedRecording
from tenure.store.recording_file import list_recordings


class WatchedRun:
    """Opened for a run's folder for as long as somebody watches; `look` is called by one thread at a time."""

    def __init__(self, folder: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = folder
        self._clock = clock
        self._followed: dict[str, FollowedRecording] = {}
        self._states: dict[str, _State] = {}

    def look(self) -> RunView:
        """Each process that has recorded something by now, in the order of folders; reads what is new.

        A view is made anew only where rows came. RecordingError where the folder is gone.
        """
        if self._followed and not Path(self.folder).is_dir():
            raise RecordingError(f"{self.folder} is gone")
        read = {path: recording for path in list_recordings(self.folder) if (recording := self._read(path)) is not None}
        views = tuple(self._view(recording) for recording in read.values())
        return RunView(views, compare_ranks(read.values()) if len(read) > 1 else None)

    def _read(self, path: str) -> Recording | None:
        """None where it has only begun."""
        try:
            return self._followed.setdefault(path, FollowedRecording(path)).read()
        except RecordingError:
            return None

    def _view(self, recording: Recording) -> ProcessView:
        state = self._states.setdefault(recording.path, _State())
        return state.view(recording, run_folder=self.folder, now=self._clock())


class _State:
    """What was there the last time, and since when."""

    def __init__(self) -> None:
        self._seen: tuple[object, ...] = ()
        self._since = 0.0
        self._made: ProcessView | None = None

    def view(self, recording: Recording, *, run_folder: str, now: float) -> ProcessView:
        steps, samples = len(recording.steps), len(recording.samples)
        seen = (steps, samples // 10, len(recording.censuses), len(recording.notes), recording.end)
        if self._made is None or not self._seen or seen[0] != self._seen[0]:
            self._since = now
        if self._made is None or seen != self._seen:
            self._made = make_view(recording, run_folder=run_folder)
            self._seen = seen
        running = is_running(recording.process) if recording.end is None else None
        outlook = replace(self._made.outlook, running=running)
        return replace(self._made, outlook=outlook, quiet_seconds=now - self._since)
