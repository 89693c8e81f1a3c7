"""Whether a recorded process still lives: asked of the system, for no row can say it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any


def is_running(process: Mapping[str, Any]) -> bool | None:
    """Of process.json: a process of that number that began before the recording did; None where that cannot be told,
    as of another machine's. Some tens of microseconds."""
    import psutil

    if process.get("node") != platform.node() or not isinstance(process.get("pid"), int):
        return None
    try:
        found = psutil.Process(process["pid"])
        return bool(found.create_time() <= float(process.get("time", 0)) and found.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None
