"""A thread that looks between steps: at what the system counts, and after rows that wait to be written.

It stops before the process forks and goes on in the parent, so that a child never inherits a lock of ours that
nobody releases, and Python 3.12 has no thread to warn of. It is no `threading.Thread`: the program's own list of
threads stays its own. It calls nothing of torch.
"""

from __future__ import annotations

import _thread
import os
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from tenure.capture.guarding.forks import is_ours
from tenure.capture.guarding.own_threads import OWN_THREADS

FLUSH_SECONDS = 0.5
"""A killed program loses what came since."""
SAMPLE_SECONDS = 1.0
SHARE = 0.005
"""Of the run's time that samples may take: where reading is slow there are fewer."""
LONGEST_WAIT = 0.25
"""So long a fork waits for a reading that is under way."""


class Rows(Protocol):
    """Where samples go: `capture.writing.journal.Journal`."""

    def write_sample(self, step: int, *, time: float, seconds: float, counters: Mapping[str, int]) -> None:
        """Add one row."""
        ...

    def flush_if_due(self, *, seconds: float) -> None:
        """Write what waits."""
        ...

    def take_request(self) -> bool:
        """Whether somebody outside has asked for a census."""
        ...


class Sampler:
    """Started once; ends with `pause`, in forked children, or when reading fails, which `on_failure` is told."""

    def __init__(
        self,
        rows: Rows,
        read: Callable[[], dict[str, int]],
        *,
        current_step: Callable[[], int],
        is_busy: Callable[[], bool],
        on_failure: Callable[[Exception], None],
        start: float,
        on_look: Callable[[float], None] = lambda now: None,
    ) -> None:
        self._rows = rows
        self._read = read
        self._current_step = current_step
        self._is_busy = is_busy
        self._on_failure = on_failure
        self._on_look = on_look
        self._start = start
        self._turn: _Turn | None = None
        self._next_sample = 0.0
        self.own_seconds = 0.0
        self.num_forks = 0
        """Of the process, by the program, while the thread ran; in samples from the first on."""
        self.census_wanted = False
        """Somebody outside has asked for one; set back by who takes it."""

    def start(self) -> None:
        """Begin; nothing where no thread can be started any more: an interpreter that shuts down, no memory."""
        _stop_before_forks(self)
        self.resume()

    def resume(self) -> None:
        """Begin again after `pause`."""
        turn = _Turn()
        with suppress(RuntimeError):
            _thread.start_new_thread(_run, (turn, weakref.ref(self)))
            self._turn = turn

    def pause(self) -> bool:
        """End the thread and wait for its end, not for long; whether there was one."""
        turn, self._turn = self._turn, None
        if turn is None:
            return False
        turn.end()
        return True

    def abandon(self) -> None:
        """In a forked child, where the thread is not."""
        self._turn = None

    def look(self, now: float) -> None:
        """What is due at `now` (`time.perf_counter`): a sample, a flush, whether a census is wanted, and `on_look`."""
        if now >= self._next_sample and not self._is_busy():
            counters = self._read() | ({"num_forks": self.num_forks} if self.num_forks else {})
            seconds = time.perf_counter() - now
            step, at = self._current_step(), now - self._start
            self._rows.write_sample(step, time=at, seconds=seconds, counters=counters)
            self.own_seconds += seconds
            self._next_sample = now + max(SAMPLE_SECONDS, seconds / SHARE)
        self._rows.flush_if_due(seconds=FLUSH_SECONDS)
        if self._rows.take_request():
            self.census_wanted = True
        self._on_look(now)

    def fail(self, error: Exception) -> None:
        """A reading has failed: there are no more."""
        with suppress(Exception):
            self._on_failure(error)
        self._turn = None


class _Turn:
    """One thread's life: two locks, for waiting in them runs no code of Python's."""

    def __init__(self) -> None:
        self._wake = _thread.allocate_lock()
        self._wake.acquire()
        self._gone = _thread.allocate_lock()
        self._gone.acquire()
        self.ended = False

    def wait(self, seconds: float) -> None:
        """Return after so long, or when the end is asked for."""
        self._wake.acquire(True, seconds)

    def end(self) -> None:
        """Ask for the end, and wait for it."""
        self.ended = True
        with suppress(RuntimeError):
            self._wake.release()
        if self._gone.acquire(True, LONGEST_WAIT):
            self._gone.release()

    def leave(self) -> None:
        """The thread's last deed."""
        self._gone.release()


def _run(turn: _Turn, sampler: weakref.ref[Sampler]) -> None:
    own = _thread.get_ident()
    OWN_THREADS.add(own)
    try:
        with suppress(Exception):  # of this loop itself; there is nobody else to tell
            while not turn.ended and _look(turn, sampler()):
                turn.wait(FLUSH_SECONDS)
    finally:
        OWN_THREADS.discard(own)
        turn.leave()


def _look(turn: _Turn, sampler: Sampler | None) -> bool:
    """Whether to go on."""
    if sampler is None:
        return False
    try:
        sampler.look(time.perf_counter())
    except Exception as error:
        if not turn.ended:
            sampler.fail(error)
        return False
    return True


def _stop_before_forks(sampler: Sampler) -> None:
    """For as long as it lives; no-op without fork. Forking waits for a reading under way, `LONGEST_WAIT` at most."""
    reference = weakref.ref(sampler)
    paused: list[bool] = []

    def before() -> None:
        target: Any = reference()
        paused.append(target is not None and target.pause())

    def after() -> None:
        target = reference()
        if paused.pop() and target is not None:
            target.num_forks += not is_ours()
            target.resume()

    def in_child() -> None:
        paused.clear()
        target = reference()
        if target is not None:
            target.abandon()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=in_child)
