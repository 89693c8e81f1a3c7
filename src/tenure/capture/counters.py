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
        rss_pages = _read_rss_pages()
        if rss_pages is not None:
            counters["rss_bytes"] = rss_pages * self._page_bytes
        return counters


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


def _read_rss_pages() -> int | None:
    """Opened each time, as the program may close descriptors that it does not know."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None
    try:
        return int(os.read(file, 128).split()[1])
    finally:
        os.close(file)
