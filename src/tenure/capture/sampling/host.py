"""What the system counts for this process between steps: from /proc on Linux, by psutil elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tenure.capture.guarding.own_threads import OWN_THREADS
from tenure.capture.system.memory_room import read_host_room

SLOW_SECONDS = 10.0
"""So often children and open files are listed, and the machine and the cgroup asked for what is left."""
SHARES_SECONDS = 60.0
"""So often the kernel is asked for shares of pages, for which it walks the page tables."""
SLOW_SHARE = 0.0005
"""Of the run's time that either may take."""
LONGEST_SECONDS = 0.2
"""A walk of so much processor time was the last: while it lasts no thread of the process can map memory. What a busy
machine adds does not count."""
MOST_CHILDREN = 64
_STATUS = {
    b"VmRSS": "rss_bytes",
    b"VmHWM": "rss_peak_bytes",
    b"RssAnon": "rss_anonymous_bytes",
    b"RssShmem": "rss_shared_memory_bytes",
    b"VmSwap": "swap_bytes",
}
_SHARES = {b"Pss": "pss_bytes"}
_PRIVATE = (b"Private_Clean", b"Private_Dirty", b"Private_Hugetlb")


class HostReader:
    """Reads what is due; `on_missing` is told once of each source that the system does not have."""

    def __init__(self, on_missing: Callable[[str], None], *, proc: str = "/proc", linux: bool | None = None) -> None:
        self._on_missing = on_missing
        self._proc = proc
        self._linux = sys.platform.startswith("linux") if linux is None else linux
        self._psutil: Any = None
        self._next_slow = self._next_shares = 0.0
        self._gone: set[str] = set()

    def read(self, now: float) -> dict[str, int]:
        """Bytes and counts by name, as docs/recording-format.md lists them; a tenth of a millisecond on Linux.

        Now and then with what all processes leave, children and open files (`SLOW_SECONDS`) and with shares of pages
        (`SHARES_SECONDS`): half a millisecond each, more in processes of many mappings.
        """
        if not self._linux:
            return self._ask_psutil(now)
        counters = self._read_status()
        if now >= self._next_slow:
            before = time.perf_counter()
            counters |= read_host_room() | self._read_children() | self._count_files()
            self._next_slow = now + max(SLOW_SECONDS, (time.perf_counter() - before) / SLOW_SHARE)
        if now >= self._next_shares:
            counters |= self._read_shares(now)
        return counters

    def _read_status(self) -> dict[str, int]:
        rows = _rows(self._text(f"{self._proc}/self/status"))
        found = {name: rows[key] << 10 for key, name in _STATUS.items() if key in rows}
        if b"Threads" in rows:
            found["num_threads"] = rows[b"Threads"] - len(OWN_THREADS)
        return found

    def _read_shares(self, now: float) -> dict[str, int]:
        """PSS and USS; never again where it took too long."""
        before = time.thread_time()
        rows = _rows(self._text(f"{self._proc}/self/smaps_rollup"))
        took = time.thread_time() - before
        self._next_shares = now + max(SHARES_SECONDS, took / SLOW_SHARE)
        if took > LONGEST_SECONDS:
            self._next_shares = float("inf")
            self._say(f"shares of pages (PSS, USS) are not read any more: the kernel took {took:.2f} s")
        found = {name: rows[key] << 10 for key, name in _SHARES.items() if key in rows}
        private = [rows[key] for key in _PRIVATE if key in rows]
        return found | ({"uss_bytes": sum(private) << 10} if private else {})

    def _read_children(self) -> dict[str, int]:
        """Direct children and their resident memory; pages that they share with this process are counted again."""
        try:
            threads = os.listdir(f"{self._proc}/self/task")  # noqa: PTH208
        except OSError:
            return {}
        texts = [self._text(f"{self._proc}/self/task/{thread}/children", optional=True) for thread in threads]
        children = [pid for text in texts for pid in text.split()]
        pages = 0
        for pid in children[:MOST_CHILDREN]:
            words = self._text(f"{self._proc}/{pid.decode()}/statm", optional=True).split()
            pages += int(words[1]) if len(words) > 1 else 0
        return {"num_children": len(children), "children_rss_bytes": pages * os.sysconf("SC_PAGE_SIZE")}

    def _count_files(self) -> dict[str, int]:
        with suppress(OSError):
            return {"num_files": len(os.listdir(f"{self._proc}/self/fd")) - 1}  # noqa: PTH208 - less that of listing
        return {}

    def _text(self, path: str, *, optional: bool = False) -> bytes:
        """The file's text; none where it is not there, which is said unless it is `optional`."""
        try:
            file = os.open(path, os.O_RDONLY)
            try:
                return os.read(file, 1 << 16)
            finally:
                os.close(file)
        except OSError as error:
            if not optional:
                self._say(f"not counted: {path} ({error.strerror})")
            return b""

    def _ask_psutil(self, now: float) -> dict[str, int]:
        if self._psutil is None:
            self._psutil = _import_psutil()
        if not self._psutil:
            self._say("not counted: memory of the host between steps; it needs psutil on this system")
            return {}
        before = time.perf_counter()
        process, system = self._psutil.Process(), self._psutil.virtual_memory()
        found = {
            "rss_bytes": int(process.memory_info().rss),
            "num_threads": int(process.num_threads()) - len(OWN_THREADS),
            "host_total_bytes": int(system.total),
            "host_available_bytes": int(system.available),
        }
        if now >= self._next_slow:
            found |= _ask_slowly(process, self._psutil.Error)
            self._next_slow = now + max(SLOW_SECONDS, (time.perf_counter() - before) / SLOW_SHARE)
        return found

    def _say(self, text: str) -> None:
        if text.partition("(")[0] not in self._gone:
            self._gone.add(text.partition("(")[0])
            self._on_missing(text)


def _ask_slowly(process: Any, error: type[Exception]) -> dict[str, int]:
    """Children, open files (handles on Windows) and memory of this process alone, each where psutil has it."""
    found: dict[str, int] = {}
    with suppress(error):
        children = process.children()
        found |= {"num_children": len(children), "children_rss_bytes": 0}
        for child in children[:MOST_CHILDREN]:
            with suppress(error):
                found["children_rss_bytes"] += int(child.memory_info().rss)
    count = getattr(process, "num_fds", None) or getattr(process, "num_handles", None)
    with suppress(error):
        found |= {"num_files": int(count())} if count is not None else {}
    with suppress(error, AttributeError):
        found["uss_bytes"] = int(process.memory_full_info().uss)
    return found


def _import_psutil() -> Any:
    try:
        import psutil
    except ImportError:
        return False
    return psutil


def _rows(text: bytes) -> dict[bytes, int]:
    """`Name:  12 kB` as 12 by name; rows without a number are left out."""
    found = {}
    for line in text.split(b"\n"):
        name, _, rest = line.partition(b":")
        words = rest.split()
        if words and words[0].isdigit():
            found[name] = int(words[0])
    return found
