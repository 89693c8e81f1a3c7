"""When copies of the process are left for experiments: after a chosen step, or at the program's end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from tenure.capture.system.ranks import read_number
from tenure.capture.writing.folders import LAUNCHER_VARIABLE
from tenure.capture.writing.journal import Journal


class ExperimentCopies:
    """Left only where a launcher lives that will ask them.

    `step` is the step after which they are wanted (0: never, None: at the end), one at its end and one at the forward
    that follows; where the program ends before, one is left at the end.
    """

    def __init__(self, journal: Journal, *, step: int | None, environment: Mapping[str, str] = os.environ) -> None:
        self._journal = journal
        self._step = step
        self._asked_by = None if step == 0 else read_number(environment, LAUNCHER_VARIABLE)
        self._num_left = 0

    def leave_after(self, step: int, moment: str) -> None:
        """After the census of a moment of this step."""
        if step == self._step:
            self._leave(step, moment)

    def leave_at_end(self, step: int) -> None:
        """When the program is over and nothing of it is torn down yet."""
        if step and not self._num_left:
            self._leave(step, "exit")

    def _leave(self, step: int, moment: str) -> None:
        if self._asked_by is None:
            return
        folder = self._journal.complete_until_now()
        if folder is not None:
            from tenure.capture.copies.experiments import leave_copy

            self._num_left += 1
            leave_copy(folder, step=step, moment=moment, asked_by=self._asked_by)


def call_before_shutdown(work: Callable[[], None]) -> None:
    """Have `work()` called when the main thread is over, before exit handlers: from Python 3.12 these cannot fork."""
    register: Callable[[Callable[[], None]], None] | None = getattr(threading, "_register_atexit", None)
    if register is not None:
        with suppress(RuntimeError):  # too late: the main thread is over
            register(work)
