"""The end of a program that was asked to run for so many steps only."""

from __future__ import annotations

import _thread
import threading


class StoppedAfterSteps(SystemExit):
    """Ends the program after --stop-after steps, as `sys.exit(0)` would: finally blocks and atexit run."""


class Stopper:
    """Asked outside of our own guarded code; `stopped` says whether it has ended the program."""

    def __init__(self, stop_after: int | None) -> None:
        self._stop_after = stop_after
        self.is_asked = stop_after is not None
        """Whether the program is to end after any step at all."""
        self.stopped = False

    def check(self, step: int) -> None:
        """Raise StoppedAfterSteps once so many steps are over; on another thread, interrupt the main one."""
        if self._stop_after is None or step < self._stop_after:
            return
        self.stopped = True
        if threading.current_thread() is threading.main_thread():
            raise StoppedAfterSteps(0)
        _thread.interrupt_main()
