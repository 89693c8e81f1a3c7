"""Whether a recorded process still lives: asked of the system, for no row can say it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenure.store.process_mark import mark_of_process

if TYPE_CHECKING:
    import psutil


def is_running(process: Mapping[str, Any]) -> bool | None:
    """Of process.json: the very process that recorded; None where that cannot be told, as of another machine's. Some
    tens of microseconds."""
    import psutil

    if process.get("node") != platform.node() or not isinstance(process.get("pid"), int):
        return None
    try:
        found = psutil.Process(process["pid"])
        return _is_same(found, process) and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None


def _is_same(found: psutil.Process, process: Mapping[str, Any]) -> bool:
    """By its mark; where there is none it began before the recording did, if nobody has set the clock since."""
    recorded, now = process.get("process_mark"), mark_of_process(found.pid)
    if recorded and now:
        return bool(recorded == now)
    return bool(found.create_time() <= float(process.get("time", 0)))
