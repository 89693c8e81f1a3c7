"""What befalls a recording and is told in it: a clock that is set, descriptors that are closed, another recorder."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable

LEAST_SECONDS = 1.0
"""By which the system's clock must have left the one that never goes back."""
MOST_TOLD = 8
"""Settings of the clock."""
_wall = time.time
"""As it is before the program, or a test of its own, puts another in its place."""
_OPEN: weakref.WeakSet[Happenings] = weakref.WeakSet()


class Happenings:
    """`look` is called on the recorder's thread; what happened since is noted then, or when it is closed."""

    def __init__(
        self,
        note: Callable[[str, str], None],
        *,
        lost_descriptors: Callable[[], bool],
        wall: Callable[[], float] | None = None,
    ) -> None:
        self._note = note
        self._lost_descriptors = lost_descriptors
        self._wall = wall or _wall
        self._ahead: float | None = None
        self._num_settings = 0
        self._waiting: list[str] = []
        self._met = self._lost = False

    def open(self) -> None:
        """The recording has begun: others of this process that still record are told of it, and it of them."""
        for other in list(_OPEN):
            other.meet_another()
            self.meet_another()
        _OPEN.add(self)

    def meet_another(self) -> None:
        """Another recorder runs in this process; told once."""
        if not self._met:
            self._met = True
            self._waiting.append("another recorder runs in this process: each counts the other's time as the program's")

    def look(self, now: float) -> None:
        """`now` by `time.perf_counter`; a microsecond."""
        self._compare_clocks(now)
        if not self._lost and self._lost_descriptors():
            self._lost = True
            self._waiting.append("the program closed descriptors that it did not open: ours was opened anew")
        self._tell()

    def close(self) -> None:
        """The recording is over."""
        _OPEN.discard(self)
        self._tell()

    def abandon(self) -> None:
        """In a forked child."""
        _OPEN.discard(self)
        self._waiting.clear()

    def _tell(self) -> None:
        while self._waiting:
            self._note("info", self._waiting.pop(0))

    def _compare_clocks(self, now: float) -> None:
        ahead = self._wall() - now
        before, self._ahead = self._ahead, ahead
        if before is None or abs(ahead - before) < LEAST_SECONDS or self._num_settings >= MOST_TOLD:
            return
        self._num_settings += 1
        seconds = f"{abs(ahead - before):,.0f} s"
        how = f"set back by {seconds}" if ahead < before else f"set ahead by {seconds}, or the machine slept"
        self._waiting.append(f"the system's clock was {how}; times here are those of one that goes on")
