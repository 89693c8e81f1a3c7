"""What the dashboard says in words: short lines, the most important first, for screens of any width."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tenure.live.view import ONLY, MemoryLine, ProcessLine, ProcessView, RunView
from tenure.model.finding import Diagnosis, Finding
from tenure.model.outlook import Ahead
from tenure.model.units import format_about, format_byte_range, format_bytes, format_duration
from tenure.report.outlook import say_end, say_peak, say_phases, say_step_phases, say_time
from tenure.report.ranks import render_ranks
from tenure.report.terminal import weight

LONG_SECONDS = 10.0
LATE = 5.0
"""So many times its usual length a step has taken before it is said."""
MOST_NOTES = 5
MOST_UNSEEN = 2
_NAMES = {
    "allocated_bytes": "allocated",
    "reserved_bytes": "reserved",
    "rss_bytes": "resident",
    "pinned_bytes": "pinned",
}
_LIMITS = {"device": "device", "cgroup": "cgroup", "host": "machine"}


def name_memory(name: str) -> str:
    """`resident` for `rss_bytes`, `optimizer state` for a role."""
    return _NAMES.get(name, name.replace("_", " "))


def soonest_end(view: ProcessView) -> Ahead | None:
    """What runs out first; nothing does any more where the run is over."""
    if view.outlook.end is not None or view.outlook.running is False:
        return None
    return _soonest(counter.ahead for counter in view.outlook.counters)


def _soonest(ends: Iterable[Ahead | None]) -> Ahead | None:
    told = (ahead for ahead in ends if ahead is not None and ahead.is_told)
    return min(told, key=lambda ahead: ahead.steps, default=None)


def headline(view: ProcessView) -> str:
    """Where the run is: step, when memory ends, pace, time, and whether it still moves."""
    outlook = view.outlook
    parts = [f"step {outlook.steps:,}"]
    end = soonest_end(view)
    if end is not None:
        parts.append(f"out of memory in {time_until(end)}")
    if outlook.seconds_per_step is not None:
        parts.append(pace(outlook.seconds_per_step))
    parts.append(format_duration(outlook.seconds))
    if outlook.end is not None:
        parts.append(say_end(outlook.end))
    elif outlook.running is False:
        parts.append("gone without an end")
    elif view.quiet_seconds > max(LONG_SECONDS, LATE * (outlook.seconds_per_step or 0.0)):
        parts.append(f"no step for {format_duration(view.quiet_seconds)}")
    return " · ".join(parts if view.name == ONLY else [view.name, *parts])


def without_folder(problem: str, view: ProcessView, *, seconds: float) -> str:
    """The headline once nothing can be read any more: since when, and what was seen last."""
    return f"{problem}; as it was {format_duration(seconds)} ago: {headline(view)}"


def time_until(end: Ahead) -> str:
    """`4.3 h`, or steps where no step was timed."""
    if end.seconds_per_step is None:
        return f"{format_about(end.steps)} steps"
    return format_duration(end.steps * end.seconds_per_step)


def pace(seconds: float) -> str:
    """`2.0 steps/s` or `1.50 s/step`."""
    return f"{seconds:.2f} s/step" if seconds >= 1 else f"{1 / seconds:,.1f} steps/s"


def forecast_line(view: ProcessView) -> str:
    """When memory runs out, with the interval; empty where no end is in sight."""
    end = soonest_end(view)
    if end is None:
        return ""
    latest = "no latest" if end.latest is None else format_about(end.latest)
    steps = f"about {format_about(end.steps)} steps, 90 % between {format_about(end.soonest)} and {latest}"
    when = say_time(end)
    left = f"{format_bytes(end.room_bytes)} left"
    return f"out of memory ({_LIMITS[end.limit]}) in {'; '.join(filter(None, (when, steps, left)))}"


def growth_of(per_step: float | None) -> str:
    """`+2.00 KiB/step`, empty where nothing grows."""
    return "" if per_step is None else f"+{format_bytes(per_step)}/step"


RANGE_HEAD, GROWTH_HEAD = "least–most", "grows by"


@dataclass(frozen=True)
class Axes:
    """What the pictures of all rows share: the steps that they go over, and columns for what stands beside them."""

    steps: int
    range_width: int
    growth_width: int


def axes_of(view: ProcessView) -> Axes:
    """Wide enough for each row of this process."""
    rows = (*view.memory, *view.roles)
    ranges = max((len(range_of(row)) for row in rows), default=0)
    growths = max((len(growth_of(row.grows_per_step)) for row in rows), default=0)
    return Axes(view.outlook.steps, max(ranges, len(RANGE_HEAD)), max(growths, len(GROWTH_HEAD)) if growths else 0)


def range_of(line: MemoryLine) -> str:
    """`313.9–448.4 MiB`: the least and the most of a row, between which it is drawn."""
    return format_byte_range(line.least_bytes, line.most_bytes)


def counts_lines(view: ProcessView) -> list[str]:
    """What a step's peak was made of, allocator, device and host, in a line each, of what was counted."""
    last, outlook = view.last, view.outlook
    allocator = [_part("peak", last.get("allocated_peak_bytes"))]
    if outlook.idle_share is not None:
        split = "" if outlook.split_share is None else f", {100 * outlook.split_share:.0f} % in split blocks"
        allocator.append(f"{100 * outlook.idle_share:.0f} % of reserved not in use{split}")
    if last.get("num_private_pools"):
        allocator.append(_part("private pools", last.get("private_reserved_bytes")))
    allocator += [_count(last, "num_alloc_retries", "retries"), _count(last, "num_ooms", "out of memory")]
    device = [
        _of("used", last.get("device_used_bytes"), last.get("device_total_bytes")),
        _part("this process", last.get("device_process_bytes")),
        _with_unit(last.get("device_busy_percent"), "% busy"),
        _with_unit(last.get("device_celsius"), "°C"),
    ]
    host = [
        _of("available", last.get("host_available_bytes"), last.get("host_total_bytes")),
        _of("cgroup", last.get("cgroup_used_bytes"), last.get("cgroup_limit_bytes")),
        _part("children", last.get("children_rss_bytes")) if last.get("num_children") else "",
        _with_unit(last.get("num_threads"), "threads"),
        _with_unit(last.get("num_files"), "open files"),
    ]
    at_peak = [say_peak(outlook)] if outlook.roles_at_peak else []
    named = (
        ("peak", at_peak),
        ("in steps", say_step_phases(outlook)),
        ("phases", [say_phases(outlook)]),
        ("allocator", allocator),
        ("device", device),
        ("host", host),
    )
    return [f"{name}  {' · '.join(filter(None, parts))}" for name, parts in named if any(parts)]


def finding_line(finding: Finding) -> str:
    """Rule, where, how sure, what it weighs."""
    sure = "cause unknown" if finding.rule == "TN900" else finding.confidence
    place = f" · {Path(finding.holder.file).name}:{finding.holder.line}" if finding.holder.file else ""
    return f"{finding.rule} {finding.name}{place} · {sure} · {weight(finding)}"


def findings_lines(diagnosis: Diagnosis | None, *, state: str) -> list[str]:
    """A line each; `state` says how far the diagnosis is."""
    if diagnosis is None:
        return [f"findings  {state}"]
    count = len(diagnosis.findings)
    what = "none" if not count else f"{count}"
    unseen = (f"  not seen: {text}" for text in diagnosis.not_seen[:MOST_UNSEEN])
    return [f"findings  {what} · {state}", *(f"  {finding_line(finding)}" for finding in diagnosis.findings), *unseen]


def findings_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """The same as labels and texts, without the dashboard."""
    count, censuses = len(diagnosis.findings), diagnosis.censuses or 0
    state = f"{count or 'none'} · from {censuses} {'census' if censuses == 1 else 'censuses'}"
    unseen = [("not seen", text) for text in diagnosis.not_seen[:MOST_UNSEEN]]
    return [("findings", state), *(("", finding_line(finding)) for finding in diagnosis.findings), *unseen]


def notes_lines(view: ProcessView) -> list[str]:
    """What the recorder wants a person to know, the latest last."""
    told = [note for note in view.notes if note.level != "info" or note.step][-MOST_NOTES:]
    return [f"note  {'' if note.step is None else f'step {note.step:,}: '}{note.text.splitlines()[0]}" for note in told]


RANKS_HEAD = ("process", "step", "allocated", "resident", "grows by", "memory ends")


NOT_YET = "..."
"""In a cell: it is still being read."""


def rank_cells(line: ProcessLine) -> tuple[str, ...]:
    """One process's row in the table of all of them."""
    growth = NOT_YET if line.growth is None else growth_of(next((each.per_step for each in line.growth), None))
    sizes = (line.allocated_bytes, line.resident_bytes)
    bytes_now = ("" if size is None else format_bytes(size) for size in sizes)
    return (line.name, f"{line.steps:,}", *bytes_now, growth, _end_cell(line))


def _end_cell(line: ProcessLine) -> str:
    if line.end is not None or line.running is False:
        return line.end or ""
    end = _soonest(each.ahead for each in line.growth or ())
    return NOT_YET if line.growth is None else "" if end is None else time_until(end)


def ranks_text(run: RunView, *, width: int) -> str:
    """What the processes say beside each other; empty where there is one."""
    if run.ranks is not None:
        return render_ranks(run.ranks, width=width).rstrip("\n")
    steps = [line.steps for line in run.processes]
    if len(steps) < 2:
        return ""
    unread = f" · {run.num_unread:,} are still to be read closely" if run.num_unread else ""
    return f"{len(steps)} processes · steps {min(steps):,} to {max(steps):,}{unread}"


def _part(name: str, size: int | None) -> str:
    return "" if size is None else f"{name} {format_bytes(size)}"


def _of(name: str, size: int | None, total: int | None) -> str:
    if size is None:
        return ""
    return f"{name} {format_bytes(size)}" + ("" if total is None else f" of {format_bytes(total)}")


def _with_unit(value: int | None, unit: str) -> str:
    return "" if value is None else f"{value:,} {unit.removesuffix('s') if value == 1 else unit}"


def _count(last: dict[str, int], name: str, words: str) -> str:
    return f"{last[name]:,} {words}" if last.get(name) else ""
