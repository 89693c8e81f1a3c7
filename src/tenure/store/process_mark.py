"""Tells a process from later ones that are given its number."""

from __future__ import annotations


def mark_of_process(pid: int) -> str | None:
    """The boot and the clock tick of it at which process `pid` began; None where the system does not say (Linux does).

    No time of day, which moves when the clock is set (proc(5): `/proc/[pid]/stat`, field 22). Reads two files of the
    kernel.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot, open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - at start
            fields = stat.read().rpartition(")")[2].split()
            return f"{boot.read().strip()}:{fields[19]}"
    except (OSError, IndexError):
        return None
