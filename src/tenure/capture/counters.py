"""What the system and torch's allocators count, read without starting a device or waiting for one."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Mapping
from typing import Any

from tenure.capture.sampling.allocator import is_built_for_backends, may_have_others, read_allocator
from tenure.capture.sampling.private_pools import read_private_pools
from tenure.capture.steps.census_steps import is_geometric, next_geometric
from tenure.capture.system.memory_room import read_memory_room
from tenure.capture.system.resident import ResidentMemory
from tenure.model.recording import PROFILER_RUNS

QUICK_STEP_SECONDS = 0.005
STEPS_BETWEEN_READINGS = 10
_PINNED_IN_USE_SINCE = (2, 13)


class CounterReader:
    """Reads counters after steps: after each one, after every other where the machine is slow for steps as quick as
    these, or after each tenth where they are too quick on any.

    What memory there is, how much is left, what lies in private pools, and whether there may be an accelerator at all,
    or one that is neither CUDA nor XPU, is asked at the steps of the geometric schedule only.
    """

    def __init__(self) -> None:
        self._resident = ResidentMemory()
        self._may_have_device = self._may_have_others = True
        self._due_at = 0
        self.every_other = False
        """Whether the machine is too slow for a reading after each step of this length."""
        self.last: dict[str, int] = {}
        self.device_uuid: str | None = None
        """Of the device in use at the last step of the schedule."""

    def read_after_step(self, step: int, seconds: float, *, wanted: bool = False) -> dict[str, int]:
        """The counters, or nothing when this step is skipped; `wanted` ones are not."""
        due = step >= self._due_at and is_geometric(step)
        apart = STEPS_BETWEEN_READINGS if seconds < QUICK_STEP_SECONDS else 2 if self.every_other else 1
        if step % apart and self.last and not due and not wanted:
            return {}
        self.last = self.read()
        if due:
            self._due_at = next_geometric(step)
            self.last |= read_memory_room() | read_private_pools()
            self.device_uuid = find_device_uuid()
            self._may_have_others = may_have_others()
            self._may_have_device = self._may_have_others or is_built_for_backends()
        return self.last

    def read(self) -> dict[str, int]:
        """Bytes by name, and how often the collector went through everything; what cannot be measured is absent.

        Takes microseconds.
        """
        counters = read_device_counters(others=self._may_have_others) if self._may_have_device else {}
        counters["full_collections"] = gc.get_stats()[-1]["collections"]
        if _is_profiled():
            counters[PROFILER_RUNS] = 1
        return self._add_resident(counters)

    @property
    def lost_descriptor(self) -> bool:
        """Whether the program has closed what is held open for reading."""
        return self._resident.was_closed

    def read_within_step(self) -> dict[str, int]:
        """Resident memory, and the allocator's bytes where the last step ended with some."""
        counters = read_allocator(others=self._may_have_others) if "allocated_bytes" in self.last else {}
        return self._add_resident(counters)

    def close(self) -> None:
        """Give back what is held open for reading; later readings open it again."""
        self._resident.close()

    def _add_resident(self, counters: dict[str, int]) -> dict[str, int]:
        resident = self._resident.read()
        if resident is not None:
            counters["rss_bytes"] = resident
        return counters


def _is_profiled() -> bool:
    """Whether a profiler of torch's records on this thread."""
    autograd: Any = getattr(sys.modules.get("torch"), "autograd", None)
    return bool(getattr(autograd, "_profiler_enabled", bool)())


def read_device_counters(*, others: bool = True) -> dict[str, int]:
    """Of the current device's allocator and of pinned host memory; empty where the program has started none itself.

    `others` as in `read_allocator`.
    """
    counters = read_allocator(others=others)
    if not counters:
        return counters
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return counters
    read_pinned = getattr(cuda, "host_memory_stats_as_nested_dict", None)  # torch 2.6 and later
    version = str(sys.modules["torch"].__version__)
    return counters | pinned_counters(read_pinned() if read_pinned is not None else {}, version)


def find_device_uuid() -> str | None:
    """As the driver names the current CUDA device; None where the program has not started CUDA, or on ROCm."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return None
    uuid = getattr(cuda.get_device_properties(cuda.current_device()), "uuid", None)
    return None if uuid is None else f"GPU-{uuid}"


def pinned_counters(stats: Mapping[str, Any], torch_version: str) -> dict[str, int]:
    """Bytes of pinned host memory that torch's allocator owns, and of them in use, from its nested statistics."""
    found = {}
    for name, key in (("pinned_bytes", "allocated_bytes"), ("pinned_active_bytes", "active_bytes")):
        current = stats.get(key, {}).get("current")
        if current is not None and (key == "allocated_bytes" or counts_pinned_in_use(torch_version)):
            found[name] = int(current)
    return found


def counts_pinned_in_use(torch_version: str) -> bool:
    """Whether what torch counts of pinned memory in use falls again when it is freed: not before 2.13, where its pull
    request 171662 mended it."""
    numbers = re.match(r"(\d+)\.(\d+)", torch_version)
    return numbers is not None and tuple(map(int, numbers.groups())) >= _PINNED_IN_USE_SINCE
