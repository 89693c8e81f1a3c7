"""SIGUSR2 as a wish for a census: taken only where nobody else has the signal, and given back.

Put in at the first step's end, when trainers have theirs: a launcher that asks "is there a handler?" before it sets
its own (Lightning's requeueing under SLURM does) must find none of ours. The handler sets a flag and does no more.
"""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from pathlib import Path

NAME = "SIGUSR2"
TAKEN = f"{NAME} is the program's own: it brings no census, `tenure watch --census` does"


_listening: set[CensusSignal] = set()
"""Of this process: a recorder within another's has its wish too."""


def tenure_census_signal(number: int, frame: object) -> None:
    """The handler."""
    for each in tuple(_listening):
        each.asked = True


class CensusSignal:
    """Opened on the main thread; `take` asks whether the signal has come since."""

    def __init__(self, *, proc: str = "/proc") -> None:
        self._proc = proc
        self._displaced = False
        self.asked = False

    def open(self) -> str | None:
        """Listen; gives back why not, where somebody else handles or ignores the signal, or it cannot be set."""
        number = getattr(signal, NAME, None)
        if number is None:
            return None
        if signal.getsignal(number) is not tenure_census_signal:
            missing = self._describe_obstacle(number)
            if missing is not None:
                return missing
            signal.signal(number, tenure_census_signal)
            with suppress(OSError, ValueError):
                signal.siginterrupt(number, False)  # a system call of the program's that it strikes goes on
        _listening.add(self)
        return None

    def find_displaced(self) -> str | None:
        """Said once, where the program has put a handler of its own in place of ours; from any thread."""
        if self._displaced or self not in _listening:
            return None
        self._displaced = signal.getsignal(getattr(signal, NAME)) is not tenure_census_signal
        return TAKEN if self._displaced else None

    def take(self) -> bool:
        """Whether it has come since the last time."""
        asked, self.asked = self.asked, False
        return asked

    def close(self) -> None:
        """Give the signal back, unless the program has put a handler of its own in its place.

        Not where a failure has ended the recording: a signal that nobody handles would end the program.
        """
        if self not in _listening:
            return
        _listening.discard(self)
        number = getattr(signal, NAME)
        if not _listening and signal.getsignal(number) is tenure_census_signal:
            with suppress(ValueError):
                signal.signal(number, signal.SIG_DFL)

    def _describe_obstacle(self, number: int) -> str | None:
        if signal.getsignal(number) is not signal.SIG_DFL or self._is_caught(number):
            return TAKEN
        if threading.current_thread() is not threading.main_thread():
            return f"{NAME} brings no census, for steps are not made on the main thread; `tenure watch --census` does"
        return None

    def _is_caught(self, number: int) -> bool:
        """Whether C code handles it, which Python does not know of: `faulthandler.register`, an embedding program."""
        try:
            status = Path(self._proc, "self", "status").read_text("ascii", "replace")
        except OSError:
            return False
        caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
        return bool(int(caught, 16) >> (number - 1) & 1)
