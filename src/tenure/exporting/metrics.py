"""What a running program's recording says last, as metrics by the conventions of Prometheus.

Base units (bytes, seconds, degrees Celsius, ratios), `_total` for what only rises. A counter that is not listed here
becomes a gauge by its own name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenure.model.recording import PROFILER_RUNS
from tenure.model.step_phases import NAMES_IN_PHASES
from tenure.store.latest_rows import LatestRows

OF_PROCESS = ("process", "rank")
OF_DEVICE = (*OF_PROCESS, "device")
OF_ROLE = (*OF_PROCESS, "role")
OF_PHASE = (*OF_PROCESS, "phase")


@dataclass
class Metric:
    """One family: its name without `_total`, what it means, and its values by their labels."""

    name: str
    help: str
    labels: tuple[str, ...]
    only_rises: bool = False
    values: dict[tuple[str, ...], float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Known:
    """How a counter of the recording is told: name, meaning, and how many of its units make one of the metric's."""

    name: str
    help: str
    of_device: bool = False
    only_rises: bool = False
    per_unit: float = 1


_A, _D = "allocator", "device"
_KNOWN = {
    "allocated_bytes": _Known(f"{_A}_allocated_bytes", "Bytes that tensors use of torch's allocator.", True),
    "active_bytes": _Known(f"{_A}_active_bytes", "The same, and blocks that wait for another stream.", True),
    "reserved_bytes": _Known(f"{_A}_reserved_bytes", "Bytes that the allocator took from the device.", True),
    "requested_bytes": _Known(f"{_A}_requested_bytes", "Bytes that tensors asked for, before rounding.", True),
    "inactive_split_bytes": _Known(f"{_A}_inactive_split_bytes", "Free parts of blocks that are partly used.", True),
    **{
        f"{name}_peak_bytes": _Known(f"{_A}_{name}_peak_bytes", f"Most bytes that were {name} since the start.", True)
        for name in ("allocated", "active", "reserved")
    },
    **{
        f"{name}_{pool}_bytes": _Known(f"{_A}_{name}_{pool}_bytes", f"Bytes {name} in the pool of {pool} blocks.", True)
        for name in ("allocated", "active", "reserved", "inactive_split", "requested")
        for pool in ("small", "large")
    },
    "num_alloc_retries": _Known(
        f"{_A}_retries", "Times that the allocator emptied its cache to get memory.", True, True
    ),
    "num_private_pools": _Known(f"{_A}_private_pools", "Pools of CUDA graphs and the program's own.", True),
    "private_reserved_bytes": _Known(f"{_A}_private_reserved_bytes", "Reserved in private pools.", True),
    "private_allocated_bytes": _Known(f"{_A}_private_allocated_bytes", "In use in private pools.", True),
    "num_ooms": _Known(f"{_A}_out_of_memory", "Errors of device memory that ran out.", True, True),
    "device_total_bytes": _Known(f"{_D}_size_bytes", "Memory of the device.", True),
    "device_used_bytes": _Known(f"{_D}_used_bytes", "Memory of the device in use, by all processes.", True),
    "device_free_bytes": _Known(f"{_D}_free_bytes", "Memory of the device that was free when it was last read.", True),
    "device_process_bytes": _Known(f"{_D}_process_bytes", "Memory of the device that this process uses.", True),
    "device_busy_percent": _Known(
        f"{_D}_busy_ratio", "Share of the last second in which a kernel ran.", True, False, 100
    ),
    "device_celsius": _Known(f"{_D}_temperature_celsius", "Temperature of the device.", True),
    "rss_bytes": _Known("process_resident_bytes", "Resident memory of the process."),
    "rss_peak_bytes": _Known("process_resident_peak_bytes", "Most resident memory since the start."),
    "rss_anonymous_bytes": _Known("process_resident_anonymous_bytes", "Resident memory that no file stands behind."),
    "rss_shared_memory_bytes": _Known("process_resident_shared_memory_bytes", "Resident shared memory."),
    "swap_bytes": _Known("process_swapped_bytes", "Memory of the process that is swapped out."),
    "pss_bytes": _Known("process_proportional_bytes", "Resident memory, shared pages by share (PSS)."),
    "uss_bytes": _Known("process_unique_bytes", "Resident memory of no other process (USS)."),
    "num_threads": _Known("process_threads", "Threads, without the recorder's."),
    "num_files": _Known("process_open_files", "Open file descriptors."),
    "num_forks": _Known("process_forks", "Forks by the program while it was watched."),
    "num_children": _Known("process_children", "Direct child processes."),
    "children_rss_bytes": _Known("process_children_resident_bytes", "Resident memory of direct children."),
    "pinned_bytes": _Known("pinned_bytes", "Host memory that torch's pinned allocator owns."),
    "pinned_active_bytes": _Known("pinned_active_bytes", "Pinned host memory in use."),
    "host_total_bytes": _Known("host_size_bytes", "Memory of the machine."),
    "host_available_bytes": _Known("host_available_bytes", "Memory of the machine that is available."),
    "cgroup_limit_bytes": _Known("cgroup_limit_bytes", "Limit of memory of the control group."),
    "cgroup_used_bytes": _Known("cgroup_used_bytes", "Memory in use by the control group."),
    "full_collections": _Known("full_collections", "Full collections by Python's garbage collector.", only_rises=True),
    PROFILER_RUNS: _Known("profiler_runs", "1 where a profiler of torch's records."),
    "input_elements": _Known("input_elements", "Elements of the tensors given to the last root call measured."),
    "input_longest": _Known("input_longest", "Largest second dimension of these tensors."),
}
_HIDDEN = frozenset({"device_index"})
_IN_PHASES = {name: (_KNOWN[counter], phase) for (phase, counter), name in NAMES_IN_PHASES.items()}


class Metrics:
    """Families by name, in the order in which they first came."""

    def __init__(self) -> None:
        self._found: dict[str, Metric] = {}

    def add(
        self,
        name: str,
        text: str,
        labels: tuple[str, ...],
        whose: tuple[str, ...],
        value: float,
        *,
        rises: bool = False,
    ) -> None:
        """One value."""
        metric = self._found.setdefault(name, Metric(f"tenure_{name}", text, labels, rises))
        metric.values[whose] = value

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._found.values())


def add_process(metrics: Metrics, rows: LatestRows, *, name: str) -> None:
    """Add what the recording of the process `name` says last."""
    rank = rows.process.get("rank")
    own = (name, "" if rank is None else str(rank))
    _add_run(metrics, rows, own)
    _add_counters(metrics, rows, own)
    for role, size in rows.happened.last_census.get("bytes_by_role", {}).items():
        text = "Bytes of storages by what they are for, at the last census."
        metrics.add("storage_bytes", text, OF_ROLE, (*own, str(role)), float(size))
    for kind in ("storages", "tensors"):
        for role, count in rows.happened.last_census.get(f"{kind}_by_role", {}).items():
            text = f"Number of {kind} by what they are for, at the last census."
            metrics.add(kind, text, OF_ROLE, (*own, str(role)), float(count))


def _add_run(metrics: Metrics, rows: LatestRows, own: tuple[str, str]) -> None:
    steps, happened = rows.steps, rows.happened
    metrics.add("steps", "Steps that are over.", OF_PROCESS, own, steps.step, rises=True)
    metrics.add(
        "run_seconds", "Time from the import of torch to the last step.", OF_PROCESS, own, steps.time, rises=True
    )
    metrics.add("step_duration_seconds", "Duration of the last step.", OF_PROCESS, own, steps.seconds)
    metrics.add("ended", "1 where the recording has an end, else 0.", OF_PROCESS, own, float(happened.end is not None))
    metrics.add("censuses", "Censuses taken.", OF_PROCESS, own, happened.num_censuses, rises=True)
    if happened.last_census:
        step = int(happened.last_census.get("step", 0))
        metrics.add("last_census_step", "Step after which the last census was taken.", OF_PROCESS, own, step)
    for level in ("info", "warning", "failure"):
        count = happened.num_notes[level]
        metrics.add("notes", "Notes of the recorder.", (*OF_PROCESS, "level"), (*own, level), count, rises=True)
    about = {name: rows.process.get(name) for name in ("tenure", "torch", "python")}
    labels, values = (*OF_PROCESS, *about), (*own, *(str(value or "") for value in about.values()))
    metrics.add("run_info", "Versions of the run.", labels, values, 1.0)


def _add_counters(metrics: Metrics, rows: LatestRows, own: tuple[str, str]) -> None:
    counters: dict[str, Any] = rows.steps.counters | rows.samples.counters
    if rows.steps.time > rows.samples.time:
        counters = rows.samples.counters | rows.steps.counters
    index = counters.get("device_index")
    kind = "xpu" if str(rows.process.get("torch", "")).endswith("+xpu") else "cuda"
    device = (*own, "" if index is None else f"{kind}:{index}")
    if "device_process_bytes" in counters and "reserved_bytes" in counters:
        text = "Memory of this process on the device that is not the allocator's: context, kernels, libraries."
        beside = max(0, counters["device_process_bytes"] - counters["reserved_bytes"])
        metrics.add("device_beside_allocator_bytes", text, OF_DEVICE, device, beside)
    for name, value in counters.items():
        if name in _HIDDEN:
            continue
        if name in _IN_PHASES:
            of, phase = _IN_PHASES[name]
            metrics.add(f"phase_{of.name}", f"{of.help} At the end of a step's phase.", OF_PHASE, (*own, phase), value)
            continue
        known = _KNOWN.get(name) or _Known(name.removeprefix("num_"), f"The recording's counter {name}.")
        labels, whose = (OF_DEVICE, device) if known.of_device else (OF_PROCESS, own)
        metrics.add(known.name, known.help, labels, whose, value / known.per_unit, rises=known.only_rises)
