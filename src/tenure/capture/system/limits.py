"""Limits that the system sets for this process."""

from __future__ import annotations

import sys
from pathlib import Path


def soft_limit(name: str) -> int | None:
    """A limit as /proc names it, `stack size` in bytes or `open files`; None where there is none, or it is not known.

    Not by the module `resource`: a program may have one of its own by that name, and ours would be taken for it.
    """
    if sys.platform != "linux":
        return _by_resource(name)
    try:
        lines = Path("/proc/self/limits").read_text().split("\n")
    except OSError:
        return None
    found = next((line[len("Max ") + len(name) :].split() for line in lines if line.startswith(f"Max {name} ")), ["?"])
    return int(found[0]) if found[0].isdigit() else None


def _by_resource(name: str) -> int | None:
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit({"stack size": resource.RLIMIT_STACK, "open files": resource.RLIMIT_NOFILE}[name])
    return soft if soft != resource.RLIM_INFINITY else None
