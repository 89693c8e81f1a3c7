"""How much memory there is for this process and how much of it is left: read a few times in a run, without waiting."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tenure.capture.system.host_memory import CGROUP_ROOT, read_cgroup, read_cgroup_files

_BACKENDS = ("cuda", "xpu")
_MEMINFO = {b"MemTotal": "host_total_bytes", b"MemAvailable": "host_available_bytes"}


def read_memory_room() -> dict[str, int]:
    """Bytes by name as docs/recording-format.md lists them; what this system does not say is absent.

    Some system calls, 0.1 ms without a device; of a device one question to the driver, and only where the program has
    started CUDA or XPU itself.
    """
    return read_host_room() | _read_device()


def read_host_room() -> dict[str, int]:
    """The same of the machine and the cgroup alone; nothing of torch."""
    return _read_system() | _read_cgroup()


def _read_system() -> dict[str, int]:
    """Linux only; elsewhere nothing says what is available without a library."""
    try:
        file = os.open("/proc/meminfo", os.O_RDONLY)
    except OSError:
        return {}
    try:
        lines = os.read(file, 4096).splitlines()
    finally:
        os.close(file)
    found = {}
    for line in lines:
        name, _, rest = line.partition(b":")
        words = rest.split()
        if name in _MEMINFO and len(words) == 2 and words[0].isdigit():
            found[_MEMINFO[name]] = int(words[0]) * 1024
    return found


def _read_cgroup() -> dict[str, int]:
    """Only where a limit is set; files that the kernel gives up when memory is asked for do not count as used."""
    proc = Path("/proc")
    with suppress(OSError):
        used, limit = read_cgroup(cgroup_root=CGROUP_ROOT, proc=proc)
        if used is not None and limit is not None:
            files = read_cgroup_files(cgroup_root=CGROUP_ROOT, proc=proc)
            return {"cgroup_limit_bytes": limit, "cgroup_used_bytes": max(0, used - files)}
    return {}


def _read_device() -> dict[str, int]:
    torch: Any = sys.modules.get("torch")
    for name in _BACKENDS:
        backend = getattr(torch, name, None)
        if backend is None or not backend.is_initialized():
            continue
        with suppress(RuntimeError):  # some XPUs do not say what is free
            if getattr(backend, "is_current_stream_capturing", bool)() or not hasattr(backend, "mem_get_info"):
                return {}
            index = backend.current_device()
            free, total = backend.mem_get_info(index)
            told = {"device_index": int(index), "device_total_bytes": int(total), "device_free_bytes": int(free)}
            return told | _read_share(backend, index)
        return {}
    return {}


def read_memory_fraction(backend: Any, *device: int) -> float:
    """The share of a device's memory, without a number of the current one's, that the program's allocator may reserve;
    1.0 where this torch does not tell."""
    read = getattr(backend, "get_per_process_memory_fraction", None)
    return 1.0 if read is None else float(read(*device))


def _read_share(backend: Any, index: int) -> dict[str, int]:
    """What the allocator may reserve, where the program has set a fraction of the device's memory; torch takes it of
    the memory that the device's properties tell."""
    fraction = read_memory_fraction(backend, index)
    if fraction >= 1.0:
        return {}
    return {"device_allowed_bytes": int(fraction * backend.get_device_properties(index).total_memory)}
