"""A copy of this process in which things may be tried: nothing that happens there reaches the program or its files.

The copy is a fork. Its descriptors lead nowhere, its finalizers and signal handlers are off, it ends by itself.
What destructors (`__del__`) of dropped objects do by path or by process number is not held back.
"""

from __future__ import annotations

import faulthandler
import functools
import os
import signal
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress

from tenure.capture.guarding.collector import collector_rests
from tenure.capture.guarding.forks import fork_ourselves
from tenure.capture.heap.at_fork import without_the_programs_functions

COPY_SECONDS = 3600
"""After so long a copy ends, whatever it waits for."""


@collector_rests()
def fork_copy(work: Callable[[], None], *, seconds: int = COPY_SECONDS) -> bool:
    """Have `work()` done in a copy of this process that is no child of it; False where there is no fork.

    The copy is handed to the system, so that a program which waits for its children never meets it. The collector
    rests meanwhile, and in the copy for good: rings that wait for it are still there.
    Costs two forks: some milliseconds, and ten per GiB of memory.
    """
    if not hasattr(os, "fork"):
        return False
    try:
        child = _fork()
    except (OSError, RuntimeError):  # no memory; an interpreter that is shutting down
        return False
    if child:
        with suppress(OSError):
            os.waitpid(child, 0)
        return True
    try:
        if _fork() == 0:
            _isolate(seconds)
            work()
    finally:
        os._exit(0)


def start_in_child(work: Callable[[], bytes], *, seconds: int) -> Callable[[], bytes]:
    """Begin `work()` in a child of this process, which may crash; what is returned waits for its answer.

    The answer is empty after a crash, or after `seconds`.
    """
    reading, writing = os.pipe()
    child = _fork()
    if child:
        os.close(writing)
        return functools.partial(_take_answer, child, reading)
    try:
        os.close(reading)
        signal.alarm(seconds)
        _write_all(writing, work())
    finally:
        os._exit(0)


def _fork() -> int:
    with without_the_programs_functions():
        if sys.version_info < (3, 12):
            return fork_ourselves()
        with warnings.catch_warnings():  # which has the program's own be shown once more
            warnings.simplefilter("ignore")  # Python 3.12 warns of threads, which the copy does without
            return fork_ourselves()


def _isolate(seconds: int) -> None:
    _lead_nowhere(_open_descriptors())
    for number in signal.valid_signals():
        with suppress(OSError, ValueError, RuntimeError):
            signal.signal(number, signal.SIG_DFL)
    signal.alarm(seconds)
    faulthandler.disable()
    sys.settrace(None)
    sys.setprofile(None)
    sys.excepthook = sys.unraisablehook = lambda *args: None  # type: ignore[assignment]
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]


def _open_descriptors() -> Iterable[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return [int(entry.name) for entry in os.scandir(folder)]
    return range(1024)


def _lead_nowhere(descriptors: Iterable[int]) -> None:
    """Every open descriptor keeps its number and leads to the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        if descriptor != null:
            with suppress(OSError):
                os.fstat(descriptor)
                os.dup2(null, descriptor, inheritable=False)


def _take_answer(child: int, reading: int) -> bytes:
    answer = _read_all(reading)
    os.waitpid(child, 0)
    return answer


def _read_all(reading: int) -> bytes:
    parts = []
    while part := os.read(reading, 1 << 16):
        parts.append(part)
    os.close(reading)
    return b"".join(parts)


def _write_all(writing: int, data: bytes) -> None:
    while data:
        data = data[os.write(writing, data) :]
