"""What the dashboard shows: figures and short rows to draw of one process, a line of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tenure.analysis.growth.trend import find_trend
from tenure.analysis.watching.composition import bytes_by_role
from tenure.analysis.watching.counter_series import Numbers, counter_series, thinned
from tenure.analysis.watching.outlook import read_outlook
from tenure.model.outlook import CounterGrowth, RunOutlook
from tenure.model.ranks import RankComparison
from tenure.model.recording import Note, Recording

POINTS = 120
"""Values of a row to draw, over the steps so far."""
LEAST_SHARE = 0.02
"""A row that moves by less of its level is drawn flat: the picture has no zero, and noise would look like mountains."""
STEP_END = "step-end"
ONLY = "run"
"""The name of a process that has the run's folder for itself."""
LAST = (
    "allocated_peak_bytes",
    "device_used_bytes",
    "device_total_bytes",
    "device_process_bytes",
    "device_busy_percent",
    "device_celsius",
    "host_available_bytes",
    "host_total_bytes",
    "cgroup_used_bytes",
    "cgroup_limit_bytes",
    "children_rss_bytes",
    "num_children",
    "num_files",
    "num_threads",
    "num_ooms",
    "num_alloc_retries",
    "num_private_pools",
    "private_reserved_bytes",
)


@dataclass(frozen=True)
class MemoryLine:
    """One kind of memory: its bytes now, what they were over the steps, and its growth per step where it has one.

    `course` is drawn, and flat where it hardly moves; `least_bytes` and `most_bytes` are those of what was measured.
    """

    name: str
    last_bytes: int
    course: tuple[float, ...]
    least_bytes: float
    most_bytes: float
    grows_per_step: float | None = None


@dataclass(frozen=True)
class ProcessView:
    """The process of the run whose figures are shown."""

    path: str
    name: str
    outlook: RunOutlook
    memory: tuple[MemoryLine, ...]
    roles: tuple[MemoryLine, ...]
    last: dict[str, int]
    num_censuses: int
    notes: tuple[Note, ...]
    quiet_seconds: float = 0.0
    """How long nothing new of it has come, since it was first looked at."""


@dataclass(frozen=True)
class ProcessLine:
    """One process of the run in the table of all. `growth` is None until its rows were read closely."""

    path: str
    name: str
    steps: int
    allocated_bytes: int | None = None
    resident_bytes: int | None = None
    growth: tuple[CounterGrowth, ...] | None = None
    end: str | None = None
    running: bool | None = None


@dataclass(frozen=True)
class RunView:
    """All processes of the run that have recorded something, the one that is shown, and what the ranks say beside each
    other: None where there are none, and until the rows of all were read closely."""

    processes: tuple[ProcessLine, ...]
    shown: ProcessView | None = None
    ranks: RankComparison | None = None
    num_unread: int = 0


def make_view(recording: Recording, *, run_folder: str) -> ProcessView:
    """The view of a recording as it is now; costs what its outlook costs."""
    outlook = read_outlook(recording)
    return ProcessView(
        path=recording.path,
        name=name_of(recording.path, recording.process, run_folder),
        outlook=outlook,
        memory=tuple(_memory_lines(recording, outlook)),
        roles=tuple(_role_lines(recording, outlook.steps)),
        last={name: value for name in LAST if (value := _last(recording, name)) is not None},
        num_censuses=len(recording.censuses),
        notes=recording.notes,
    )


def name_of(path: str, process: Mapping[str, Any], run_folder: str) -> str:
    """`rank 3`, or the folder's name below the run's, or `run` for the process that has the run's folder."""
    rank = process.get("rank")
    if rank is not None:
        return f"rank {rank}"
    return ONLY if Path(path) == Path(run_folder) else Path(path).name


def _memory_lines(recording: Recording, outlook: RunOutlook) -> list[MemoryLine]:
    lines = []
    for counter in outlook.counters:
        steps, values = counter_series(recording.steps, counter.name)
        course = tuple(thinned(steps, values, most=POINTS)[1].tolist())
        drawn = course if counter.grows_per_step is not None else flattened(course)
        ends = min(course), max(course)
        lines.append(MemoryLine(counter.name, counter.last_bytes, drawn, *ends, counter.grows_per_step))
    return lines


def _role_lines(recording: Recording, last_step: int) -> list[MemoryLine]:
    """Bytes of each role at the censuses, held until the next one, the heaviest first."""
    taken = bytes_by_role(recording.censuses)
    if not taken:
        return []
    steps = np.array([step for step, _ in taken], dtype=float)
    lines = []
    for role in dict.fromkeys(role for _, roles in taken for role in roles):
        values = np.array([roles.get(role, 0) for _, roles in taken], dtype=float)
        course, growth = over_steps(steps, values, last_step), _growth_of_role(recording, role)
        drawn = flattened(course) if growth is None else course
        ends = float(values.min()), float(values.max())
        lines.append(MemoryLine(role, int(values[-1]), drawn, *ends, growth))
    return sorted((line for line in lines if line.last_bytes), key=lambda line: (-line.last_bytes, line.name))


def _growth_of_role(recording: Recording, role: str) -> float | None:
    """Bytes per step by the censuses at steps' ends; None where they do not show growth, or are too few."""
    ends = [entry for entry in recording.censuses if entry.moment == STEP_END and entry.bytes_by_role]
    found = find_trend([each.step for each in ends], [each.bytes_by_role.get(role, 0) for each in ends], counted=False)
    return found.per_step if found.kind == "growing" else None


def over_steps(steps: Numbers, values: Numbers, last_step: int) -> tuple[float, ...]:
    """Values at points of equal distance in steps, each held until the next was measured."""
    at = np.linspace(steps[0], max(float(last_step), float(steps[-1])), POINTS)
    return tuple(values[np.searchsorted(steps, at, side="right") - 1].tolist())


def flattened(course: Sequence[float]) -> tuple[float, ...]:
    """The row, or a flat one where it hardly moves."""
    if course and max(course) - min(course) < LEAST_SHARE * max(course):
        return (float(course[-1]),) * len(course)
    return tuple(course)


def _last(recording: Recording, name: str) -> int | None:
    for rows in (recording.samples, recording.steps):
        values = counter_series(rows, name)[1]
        if len(values):
            return int(values[-1])
    return None
