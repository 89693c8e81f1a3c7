"""What torch's allocator of the accelerator counts, read without starting a device or waiting for one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

_BACKENDS = ("cuda", "xpu")
_WANTED = {
    **{f"{name}_bytes": (f"{name}_bytes", "all", "current") for name in ("allocated", "active", "reserved")},
    **{f"{name}_peak_bytes": (f"{name}_bytes", "all", "peak") for name in ("allocated", "active", "reserved")},
    "inactive_split_bytes": ("inactive_split_bytes", "all", "current"),
    "requested_bytes": ("requested_bytes", "all", "current"),
    **{
        f"{name}_small_bytes": (f"{name}_bytes", "small_pool", "current")
        for name in ("allocated", "active", "reserved", "inactive_split", "requested")
    },
    "num_alloc_retries": ("num_alloc_retries",),
    "num_ooms": ("num_ooms",),
}
"""Our names, and where torch's statistics have them. `*_small_bytes` lie in the pool of small blocks; the rest of
`all` in that of large ones."""
_WANTED_FLAT = {name: ".".join(key) for name, key in _WANTED.items()}


def read_allocator(*, others: bool = True) -> dict[str, int]:
    """Counters by name, of the current device; empty where the program has not started one itself.

    Where `others` is False, which `may_have_others` tells for a while, only CUDA and XPU are asked: questions to each
    that there is not cost as much as a reading.

    CUDA (ROCm too) and XPU by their nested statistics, which cost a tenth of the flat ones, and by the number of the
    device, without which torch asks the driver whether there is one; any other accelerator
    (MTIA, MPS where it takes part) by `torch.accelerator`, from torch 2.9 on; else MPS by its own two figures.
    """
    torch: Any = sys.modules.get("torch")
    for name in _BACKENDS:
        backend = getattr(torch, name, None)
        if backend is not None and getattr(backend, "is_initialized", bool)():
            read = getattr(backend, "memory_stats_as_nested_dict", None)
            if read is not None:
                return nested_counters(read(backend.current_device()))
    return (_read_accelerator(torch) or _read_mps(torch)) if others else {}


def may_have_others() -> bool:
    """Whether this machine and this torch have an accelerator that is neither CUDA nor XPU, started or not.

    False may become True where the program registers one.
    """
    torch: Any = sys.modules.get("torch")
    mps = getattr(torch, "mps", None)
    return _find_other(torch) is not None or (mps is not None and torch.backends.mps.is_available())


def is_built_for_backends() -> bool:
    """Whether this torch is built for CUDA (ROCm too) or XPU, so that the program may start one at any time."""
    torch: Any = sys.modules.get("torch")
    xpu = getattr(torch, "xpu", None)
    return torch.backends.cuda.is_built() or (xpu is not None and xpu._is_compiled())


def nested_counters(stats: Mapping[str, Any]) -> dict[str, int]:
    """Our counters from torch's nested statistics; what this allocator does not count is absent."""
    found = {}
    for name, key in _WANTED.items():
        value = _value_at(stats, key)
        if value is not None:
            found[name] = value
    return found


def _value_at(stats: Any, key: tuple[str, ...]) -> int | None:
    try:
        for part in key:
            stats = stats[part]
        return int(stats)
    except (KeyError, TypeError):
        return None


def flat_counters(stats: Mapping[str, Any]) -> dict[str, int]:
    """The same from `{"active_bytes.all.current": 1}`."""
    return {name: int(stats[key]) for name, key in _WANTED_FLAT.items() if key in stats}


def _read_accelerator(torch: Any) -> dict[str, int]:
    read = _find_other(torch)
    if read is None or not torch._C._accelerator_isAllocatorInitialized():
        return {}
    return flat_counters(read())


def _find_other(torch: Any) -> Callable[[], Mapping[str, Any]] | None:
    """What reads the flat statistics of the accelerator that this torch is built for; starts nothing."""
    accelerator = getattr(torch, "accelerator", None)
    read: Callable[[], Mapping[str, Any]] | None = getattr(accelerator, "memory_stats", None)
    if accelerator is None or read is None:
        return None
    kind = accelerator.current_accelerator()
    return None if kind is None or kind.type in _BACKENDS else read


def _read_mps(torch: Any) -> dict[str, int]:
    """What tensors use on Apple's devices, and what the driver gave; empty before the first tensor there.

    Asking makes Metal's object of the device where the program has not: no memory and no context.
    """
    mps = getattr(torch, "mps", None)
    if mps is None or not torch.backends.mps.is_available():
        return {}
    allocated, reserved = int(mps.current_allocated_memory()), int(mps.driver_allocated_memory())
    return {"allocated_bytes": allocated, "reserved_bytes": reserved} if allocated else {}
