"""The run's time: since its beginning, and of each step, with what the recorder takes for itself left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

SILENT_SECONDS, SILENT_STEPS = 1.0, 10
"""Where no step has ended for so long, and for so many times the last one's time, there are no steps any more."""


class RunClock:
    """Started with the recording; all times are in seconds of `time.perf_counter`."""

    def __init__(self) -> None:
        self.start = self._step_began = time.perf_counter()
        self.step_seconds = 0.0
        """Of the last step that ended."""

    @property
    def elapsed(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.start

    def end_step(self) -> float:
        """A step ends now, which sets `step_seconds`; what has elapsed."""
        now = time.perf_counter()
        self.step_seconds, self._step_began = now - self._step_began, now
        return now - self.start

    def begin_step(self) -> None:
        """The next step begins only now: what came since the last one's end is no step's."""
        self._step_began = time.perf_counter()

    def leave_out(self, seconds: float) -> None:
        """So much of the step that goes on is not its own."""
        self._step_began += seconds

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """What passes inside is not the step's that goes on."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.leave_out(time.perf_counter() - started)

    def is_silent(self, now: float) -> bool:
        """Whether at `now` no step has ended for so long that none is awaited."""
        return now - self._step_began >= max(SILENT_SECONDS, SILENT_STEPS * self.step_seconds)
