"""What the system and torch's allocators count, read without starting a device or waiting for one."""

from __future__ import annotations

import os
import sys
from typing import Any

QUICK_STEP_SECONDS = 0.005
STEPS_BETWEEN_READINGS = 10


class CounterReader:
    """Reads counters after steps: after each one, or after each tenth where steps are too quick for that."""

    def __init__(self) -> None:
        self._statm = _open_statm()
        self._page_bytes = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
        self.last: dict[str, int] = {}

    def read_after_step(self, step: int, seconds: float) -> dict[str, int]:
        """The counters, or nothing when this step is skipped."""
        if seconds < QUICK_STEP_SECONDS and step % STEPS_BETWEEN_READINGS and self.last:
            return {}
        self.last = self.read()
        return self.last

    def read(self) -> dict[str, int]:
        """Bytes by name; what cannot be measured here is absent. Takes microseconds."""
        counters = read_device_counters()
        rss = self._read_rss()
        if rss is not None:
            counters["rss_bytes"] = rss
        return counters

    def close(self) -> None:
        """Give back the file handle; later readings lack `rss_bytes`."""
        if self._statm is not None:
            os.close(self._statm)
            self._statm = None

    def _read_rss(self) -> int | None:
        if self._statm is None:
            return None
        return int(os.pread(self._statm, 128, 0).split()[1]) * self._page_bytes


def read_device_counters() -> dict[str, int]:
    """Bytes of the current CUDA device's allocator; empty where the program has not started CUDA itself."""
    torch: Any = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return {}
    stats = cuda.memory_stats_as_nested_dict(cuda.current_device())
    counters = {}
    for name, key in (("allocated", "allocated_bytes"), ("reserved", "reserved_bytes"), ("active", "active_bytes")):
        values = stats.get(key, {}).get("all", {})
        if "current" in values:
            counters[f"{name}_bytes"] = int(values["current"])
            counters[f"{name}_peak_bytes"] = int(values["peak"])
    return counters


def _open_statm() -> int | None:
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None
