"""Threads, child processes, open files and mapped shared memory of this process: what piles up beside memory, and
holds some of it."""

from __future__ import annotations

import functools
import os
import sys
import threading
import types
from contextlib import suppress
from typing import Any

FILES = "files"
CHILDREN = "children"
SHARED = "shared"
MOST_MAPPINGS_BYTES = 1 << 20
"""No longer a list of mappings is read; a few thousand lines are the rule, a millisecond or two."""
THREAD = "thread "
"""Before the qualified name and the file of the function that threads run."""


def read_system_counts() -> dict[str, int]:
    """Numbers by what is counted; what this system does not say is absent. Three listings of /proc, no waiting."""
    counts = _count_threads()
    files = _count_entries("/proc/self/fd", "/dev/fd")
    if files is not None:
        counts[FILES] = files
    children = _count_children()
    if children is not None:
        counts[CHILDREN] = children
    shared = _count_shared_mappings()
    if shared is not None:
        counts[SHARED] = shared
    return counts


def _count_threads() -> dict[str, int]:
    counts: dict[str, int] = {}
    for thread in threading.enumerate():
        code = _code_of(thread)
        if code is not None and thread is not threading.main_thread():
            name = f"{THREAD}{getattr(code, 'co_qualname', code.co_name)} {code.co_filename}"
            counts[name] = counts.get(name, 0) + 1
    return counts


def _code_of(thread: threading.Thread) -> types.CodeType | None:
    """The function that a thread runs: its target, or the `run` of its class."""
    run = type(thread).run
    function: Any = run if run is not threading.Thread.run else thread.__dict__.get("_target")
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function) if isinstance(function, types.MethodType) else function
    return function.__code__ if isinstance(function, types.FunctionType) else None


def _count_entries(*folders: str) -> int | None:
    """Entries of the first folder that can be listed, without the one that listing it opens."""
    for folder in folders:
        with suppress(OSError):
            return len(os.listdir(folder)) - 1  # noqa: PTH208 - a count is wanted, and pathlib would be one import more
    return None


def _count_children() -> int | None:
    """From the kernel's own list; without it those that `multiprocessing` knows."""
    found = 0
    try:
        for thread in os.listdir("/proc/self/task"):  # noqa: PTH208
            with open(f"/proc/self/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += len(file.read().split())
    except OSError:
        known = getattr(sys.modules.get("multiprocessing.process"), "_children", None)
        return len(known) if known is not None else None
    return found


def _count_shared_mappings(file: str = "/proc/self/maps") -> int | None:
    """Files of /dev/shm that are mapped here: tensors from worker processes, `SharedMemory`, arrays of
    `multiprocessing`. None where the system does not say, or lists too many mappings of any kind."""
    found, size, rest = 0, 0, b""
    try:
        with open(file, "rb", buffering=0) as mappings:  # noqa: PTH123
            while chunk := mappings.read(1 << 16):
                size += len(chunk)
                if size > MOST_MAPPINGS_BYTES:
                    return None
                *lines, rest = (rest + chunk).split(b"\n")
                found += sum(b" /dev/shm/" in line for line in lines)
    except OSError:
        return None
    return found
