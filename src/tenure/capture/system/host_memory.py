"""Host memory of this process as the system counts it: resident, unique, children, cgroup, machine.

psutil is imported on first use: nothing here may load before the watched program does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenure.model.units import format_bytes

CGROUP_ROOT = Path("/sys/fs/cgroup")
# Kernels write "no limit" of cgroup v1 as a page-rounded maximum; nothing above an exabyte is meant.
NO_LIMIT = 1 << 60


@dataclass(frozen=True)
class HostMemory:
    """What the system says of this process. None: this system does not say it.

    `resident_bytes` counts shared pages fully, `proportional_bytes` their share, `unique_bytes` what would
    come back if the process ended. `cgroup_used_bytes` includes page cache, which can be given back.
    """

    resident_bytes: int | None
    proportional_bytes: int | None
    unique_bytes: int | None
    children_bytes: int
    num_children: int
    cgroup_used_bytes: int | None
    cgroup_limit_bytes: int | None
    system_total_bytes: int | None
    system_available_bytes: int | None

    def lines(self) -> list[str]:
        """One line per level: process, cgroup (where limited or counted), system."""
        process = [f"{_say(self.resident_bytes)} resident"]
        if self.unique_bytes is not None:
            process.append(f"{_say(self.unique_bytes)} of it only this process's")
        if self.num_children:
            process.append(f"{self.num_children} children {_say(self.children_bytes)}")
        lines = [f"process    {', '.join(process)}"]
        if self.cgroup_used_bytes is not None:
            limit = "no limit" if self.cgroup_limit_bytes is None else f"limit {_say(self.cgroup_limit_bytes)}"
            lines.append(f"cgroup     {_say(self.cgroup_used_bytes)} used, {limit}")
        lines.append(f"system     {_say(self.system_available_bytes)} available of {_say(self.system_total_bytes)}")
        return lines


def read_host_memory(*, cgroup_root: Path = CGROUP_ROOT, proc: Path = Path("/proc")) -> HostMemory:
    """Host memory of this process now; milliseconds (the kernel walks the page tables for PSS and USS)."""
    resident, unique, children, total, available = _ask_psutil()
    used, limit = read_cgroup(cgroup_root=cgroup_root, proc=proc)
    shares = _read_shares(proc / "self" / "smaps_rollup")
    private = shares.get("Private_Clean", 0) + shares.get("Private_Dirty", 0)
    return HostMemory(
        resident_bytes=resident,
        proportional_bytes=shares.get("Pss"),
        unique_bytes=private or unique,
        children_bytes=sum(children),
        num_children=len(children),
        cgroup_used_bytes=used,
        cgroup_limit_bytes=limit,
        system_total_bytes=total,
        system_available_bytes=available,
    )


def _ask_psutil() -> tuple[int | None, int | None, list[int], int | None, int | None]:
    try:
        import psutil
    except ImportError:
        return None, None, [], None, None
    children = []
    try:
        process = psutil.Process(os.getpid())
        resident = int(process.memory_info().rss)
        for child in process.children(recursive=True):
            try:
                children.append(int(child.memory_info().rss))
            except psutil.Error:
                continue  # ended meanwhile
        system = psutil.virtual_memory()
    except (psutil.Error, OSError):
        return None, None, children, None, None
    return resident, _unique_bytes(process), children, int(system.total), int(system.available)


def _unique_bytes(process: Any) -> int | None:
    """Linux answers through `smaps_rollup`, far cheaper than psutil's walk; other systems through psutil."""
    if sys.platform == "linux":
        return None
    import psutil

    try:
        return int(process.memory_full_info().uss)
    except (psutil.Error, AttributeError, OSError):
        return None


def _read_shares(file: Path) -> dict[str, int]:
    """Bytes by name from Linux's `smaps_rollup`; empty where there is none."""
    try:
        text = file.read_text()
    except OSError:
        return {}
    shares = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[2] == "kB" and words[1].isdigit():
            shares[words[0].rstrip(":")] = int(words[1]) * 1024
    return shares


def read_cgroup(*, cgroup_root: Path, proc: Path) -> tuple[int | None, int | None]:
    """Used bytes and the tightest limit of this process's cgroup (version 2 or 1); None each where unknown.

    A container sees its own cgroup as the root; outside one, limits of all enclosing groups count.
    """
    for group in _memory_groups(cgroup_root=cgroup_root, proc=proc):
        found = group.read()
        if found != (None, None):
            return found
    return None, None


def read_cgroup_files(*, cgroup_root: Path, proc: Path) -> int:
    """Bytes of files among what the cgroup uses that the kernel gives up when memory is asked for; 0 where unknown."""
    return next((group.read_files() for group in _memory_groups(cgroup_root=cgroup_root, proc=proc)), 0)


@dataclass(frozen=True)
class _MemoryGroup:
    """One cgroup that counts memory; `files` is the name in `memory.stat` of file pages that were not used lately."""

    root: Path
    folder: Path
    used: str
    limit: str
    files: str

    def read(self) -> tuple[int | None, int | None]:
        used = None
        limits = []
        for folder in [self.folder, *self.folder.parents]:
            if not folder.is_relative_to(self.root):
                break
            if used is None:
                used = _read_number(folder / self.used)
            limit = _read_number(folder / self.limit)
            if limit is not None and limit < NO_LIMIT:
                limits.append(limit)
        return used, min(limits, default=None)

    def read_files(self) -> int:
        try:
            lines = (self.folder / "memory.stat").read_text().splitlines()
        except OSError:
            return 0
        values = (line.removeprefix(f"{self.files} ") for line in lines if line.startswith(f"{self.files} "))
        return next((int(value) for value in values if value.isdigit()), 0)


def _memory_groups(*, cgroup_root: Path, proc: Path) -> Iterator[_MemoryGroup]:
    try:
        rows = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        rows = []
    for row in rows:
        _, _, rest = row.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            yield _MemoryGroup(
                cgroup_root, _group_folder(cgroup_root, path), "memory.current", "memory.max", "inactive_file"
            )
        elif "memory" in controllers.split(","):
            root = cgroup_root / "memory"
            yield _MemoryGroup(
                root,
                _group_folder(root, path),
                "memory.usage_in_bytes",
                "memory.limit_in_bytes",
                "total_inactive_file",
            )


def _group_folder(root: Path, path: str) -> Path:
    group = root / path.lstrip("/")
    return group if group.is_dir() else root


def _read_number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _say(num_bytes: int | None) -> str:
    return "unknown" if num_bytes is None else format_bytes(num_bytes)
