"""What forked workers share with this process and what is theirs alone, by the kernel's own accounting (Linux)."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from tenure.model.heap import ChildMemory

MAX_CHILDREN = 4
"""Workers of one loader do the same work: a few stand for all."""
READING_SECONDS = 0.02
"""No further child is asked once the kernel has taken so long: it walks the page tables of the whole process."""
LONGEST_SECONDS = 0.2
"""A child that took longer is the last one ever asked."""


class ChildReader:
    """Reads `smaps_rollup` of children that `multiprocessing` started. Stops for good where that is slow."""

    def __init__(self) -> None:
        self.gave_up = not sys.platform.startswith("linux")

    def read(self, proc: str = "/proc") -> tuple[ChildMemory, ...]:
        """The oldest children that still run; empty where the system does not say, or reading has become slow.

        Costs some milliseconds per GiB of a child, at most `READING_SECONDS` and one child.
        """
        found: list[ChildMemory] = []
        started = time.perf_counter()
        for pid in _children()[:MAX_CHILDREN]:
            before = time.perf_counter()
            if self.gave_up or before - started > READING_SECONDS:
                break
            memory = _read_child(pid, proc)
            self.gave_up = time.perf_counter() - before > LONGEST_SECONDS
            if memory is not None:
                found.append(memory)
        return tuple(found)


def _children() -> list[int]:
    """Process numbers of live children of `multiprocessing`, in the order in which they were started."""
    known = getattr(sys.modules.get("multiprocessing.process"), "_children", None)
    if not known:
        return []
    found = []
    for child in tuple(known):
        with suppress(Exception):  # closed meanwhile, or a class of the program's own
            found.append(int(child.pid))
    return sorted(found)


def _read_child(pid: int, proc: str) -> ChildMemory | None:
    """None for a process that has ended meanwhile, or of a kernel that does not say."""
    try:
        file = os.open(f"{proc}/{pid}/smaps_rollup", os.O_RDONLY)
        try:
            text = os.read(file, 4096)
        finally:
            os.close(file)
    except OSError:
        return None
    sizes = dict(_rows(text))
    if b"Rss" not in sizes or b"Private_Dirty" not in sizes:
        return None
    return ChildMemory(
        pid=pid,
        resident_bytes=sizes[b"Rss"],
        shared_bytes=sizes.get(b"Shared_Clean", 0) + sizes.get(b"Shared_Dirty", 0),
        private_bytes=sizes[b"Private_Dirty"] + sizes.get(b"Private_Clean", 0),
    )


def _rows(text: bytes) -> list[tuple[bytes, int]]:
    words = (line.split() for line in text.splitlines())
    return [
        (row[0].rstrip(b":"), int(row[1]) << 10)
        for row in words
        if len(row) == 3 and row[2] == b"kB" and row[1].isdigit()
    ]


CHILDREN = ChildReader()
"""Of this process: whether reading is slow is known for all censuses."""
