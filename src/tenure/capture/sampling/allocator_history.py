"""The allocator's own record of what it gave out, with the Python stack of each: begun, copied, and left alone.

Nothing of it exists on the CPU. Where the program records itself, that record is only copied: beginning anew would
set its limits and stacks, and ending it would lose it (and leave hooks behind, pytorch#153571).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

BACKENDS = ("cuda", "xpu")
MOST_ENTRIES = 100_000
"""Allocations and frees that are kept; the allocator drops the oldest. 20 MB on the disk, 0.7 s to copy
(pytorch#172672)."""
OutOfMemory = Callable[[int, int, int, int], object]
"""Called with the device's number, bytes asked for, bytes there are for this process, and bytes free."""


def started_backend() -> str | None:
    """`cuda` (ROCm too) or `xpu`, where the program has started it; nothing is started by asking."""
    torch: Any = sys.modules.get("torch")
    for name in BACKENDS:
        backend = getattr(torch, name, None)
        if backend is not None and getattr(backend, "is_initialized", bool)():
            return name
    return None


def is_recorded(backend: str) -> bool:
    """Whether allocations are recorded by now, by whomever."""
    torch: Any = sys.modules["torch"]
    ask = getattr(torch._C, f"_{backend}_isHistoryEnabled", None)
    if ask is not None:
        return bool(ask())
    return any(copy_history(backend).get("device_traces") or ())


def begin(backend: str, *, entries: int = MOST_ENTRIES) -> bool:
    """Have the allocator keep its last `entries` with Python stacks; false where it records already, or cannot.

    Costs about 2 microseconds for each allocation from then on, until the process ends (torch's own figure).
    """
    record = getattr(_memory(backend), "_record_memory_history", None)
    if record is None or is_recorded(backend):
        return False
    record(enabled="all", context="alloc", stacks="python", max_entries=entries)
    return True


def copy_history(backend: str) -> dict[str, Any]:
    """Segments, blocks and the record as torch's own snapshot has them; without a record no stacks are in it.

    Waits for no device. Up to a second for a long record, milliseconds without one.
    """
    copy = getattr(_memory(backend), "_snapshot", None)
    found = copy() if copy is not None else {}
    return found if isinstance(found, dict) else {}


def call_when_out_of_memory(backend: str, told: OutOfMemory) -> bool:
    """Have `told` called before each error of memory that ran out, by the thread that asked; it must not raise.

    It cannot be taken back. False where this torch has no such call.
    """
    torch: Any = sys.modules["torch"]
    attach = getattr(torch._C, f"_{backend}_attach_out_of_memory_observer", None)
    if attach is None:
        attach = getattr(torch._C, f"_{backend}_attachOutOfMemoryObserver", None)
    if attach is None:
        return False
    attach(told)
    return True


def _memory(backend: str) -> Any:
    return getattr(getattr(sys.modules["torch"], backend, None), "memory", None)
