"""A child process that stands in for ours: same terminal, signals passed on, gone when we are."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

FORWARDED = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2")
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
MEANWHILE_SECONDS = 1.0
_SET_PARENT_DEATH_SIGNAL = 1


def run_child(command: Sequence[str], *, environment: Mapping[str, str], meanwhile: Callable[[], None]) -> int:
    """Run to the end; the exit code, or minus the number of the signal that ended it.

    `meanwhile` is called once, after a second in which the program has not ended.
    """
    # The handlers are in place before the child is, so that no signal is lost; held ones are passed on after.
    held: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def forward(number: int, frame: FrameType | None) -> None:
        if child is None:
            held.append(number)
        elif not (number in FROM_TERMINAL and _terminal_tells_child()):
            child.send_signal(number)

    before = _install_handlers(forward)
    try:
        child = subprocess.Popen(command, env=dict(environment), preexec_fn=_make_child_setup())
        for number in held:
            child.send_signal(number)
        try:
            return child.wait(MEANWHILE_SECONDS)
        except subprocess.TimeoutExpired:
            meanwhile()
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _install_handlers(forward: Callable[[int, FrameType | None], None]) -> dict[signal.Signals, Any]:
    """Leave ignored signals ignored: under `nohup` the program must survive SIGHUP, as it would without us."""
    before = {}
    for name in FORWARDED:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, forward)
    return before


def _terminal_tells_child() -> bool:
    """Whether a Ctrl-C reaches the child by itself: we are in the foreground of a terminal, and it in our group."""
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp() if sys.__stdin__ else False
    except (OSError, ValueError):
        return False


def _make_child_setup() -> Callable[[], None]:
    """What the child does before it becomes the program: on Linux, ask to be ended when we are killed."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None

    def set_up() -> None:
        if library is not None:
            library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)

    return set_up
