"""A run's counters as text for a terminal: what is used, what grows, when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tenure.model.outlook import Ahead, CounterOutlook, RunOutlook, StepPhase
from tenure.model.step_phases import BACKWARD, BETWEEN_STEPS, EVALUATION, FORWARD, OPTIMIZER
from tenure.model.units import format_about, format_bytes, format_duration
from tenure.report.layout import wrap

LABEL_WIDTH = 14
NARROWEST = 20
NAMES = {
    "allocated_bytes": "allocated",
    "reserved_bytes": "reserved",
    "rss_bytes": "resident",
    "pinned_bytes": "pinned",
}
_ENDS_OF_RECORDER = {
    "budget": "the recorder stopped: it had used up its budget",
    "disk": "the recorder stopped: it could not write",
    "recorder-failure": "the recorder stopped: it failed, or could not write",
}
_AT_ENDS = {
    BETWEEN_STEPS: "into the forward",
    EVALUATION: "after evaluation",
    FORWARD: "after forward",
    BACKWARD: "after backward",
    OPTIMIZER: "after the optimizer",
}
_IN_PHASES = {
    BETWEEN_STEPS: "before its forward",
    EVALUATION: "in evaluation",
    FORWARD: "in its forward",
    BACKWARD: "in its backward",
    OPTIMIZER: "in the optimizer's step",
}
_LIMITS = {"device": "device", "cgroup": "cgroup", "host": "machine"}


def render_outlook(outlook: RunOutlook, *, width: int, ascii_only: bool = False) -> str:
    """One block of lines of at most `width`, where words allow; ends with a line break."""
    return render_rows(_rows(outlook), width=width, ascii_only=ascii_only)


def render_rows(rows: Iterable[tuple[str, str]], *, width: int, ascii_only: bool = False) -> str:
    """Labels and texts as lines; a text too long for its line goes on below itself."""
    lines = []
    for label, text in rows:
        first = f"{label:<{LABEL_WIDTH}}" if width >= 3 * LABEL_WIDTH else f"{label} " if label else "  "
        rest = " " * (LABEL_WIDTH if width >= 3 * LABEL_WIDTH else 2)
        lines += wrap(text, width=max(width, NARROWEST), first=first, rest=rest)
    text = "\n".join(lines) + "\n"
    return text.replace("·", "-").replace("±", "+-") if ascii_only else text


def _rows(outlook: RunOutlook) -> Iterator[tuple[str, str]]:
    going_on = "running" if outlook.running else "no end was recorded"
    state = going_on if outlook.end is None else say_end(outlook.end)
    pace = "" if outlook.seconds_per_step is None else f" · {_pace(outlook.seconds_per_step)}"
    rank = "" if outlook.rank is None else f"rank {outlook.rank} · "
    yield "run", f"{rank}step {outlook.steps:,} · {format_duration(outlook.seconds)}{pace} · {state}"
    for counter in outlook.counters:
        yield NAMES.get(counter.name, counter.name), _describe(counter)
        if counter.ahead is not None and counter.ahead.is_told:
            yield "", _describe_end(counter.ahead)
    if outlook.beside_allocator_bytes is not None:
        yield "beside it", f"{format_bytes(outlook.beside_allocator_bytes)} of this process on the device"
    if outlook.idle_share is not None:
        split = "" if outlook.split_share is None else f", {100 * outlook.split_share:.0f} % in split blocks"
        drift = outlook.idle_grows_per_step
        grows = "" if drift is None else f"; it grows by {format_bytes(drift)} per step"
        yield "fragmentation", f"{100 * outlook.idle_share:.0f} % of what is reserved is not in use{split}{grows}"
    if outlook.largest_input is not None:
        yield "inputs", _describe_inputs(outlook)
    if outlook.ran_out is not None:
        text = f"of device memory after step {outlook.ran_out.step:,}: {_roles(outlook.ran_out.bytes_by_role or {})}"
        yield "ran out", f"{text}; `tenure export --blocks` names the owners"
    yield from _peak_rows(outlook)
    carried = outlook.carried_into_forward
    if carried is not None:
        text = f"{format_bytes(carried.bytes)}, {100 * carried.share:.0f} % of all tensors, by step {carried.step:,}"
        yield "carried over", f"{text}, into the next forward"
    if outlook.roles:
        yield "roles", f"{_roles(outlook.roles)} (census after step {outlook.roles_at:,})"
    for note in outlook.notes:
        yield "note", note


def say_end(reason: str) -> str:
    """`ended: exit`; where it was the recorder that ended, and not the program as far as it knows, that."""
    return _ENDS_OF_RECORDER.get(reason, f"ended: {reason}")


def _describe(counter: CounterOutlook) -> str:
    parts = [
        format_bytes(counter.last_bytes),
        f"baseline {format_bytes(counter.baseline_bytes)} since step {counter.phase_from:,}",
        f"highest {format_bytes(counter.highest_bytes)}",
    ]
    if counter.grows_per_step is not None:
        error = format_bytes(2 * (counter.grows_error or 0.0))
        parts.append(f"grows by {format_bytes(counter.grows_per_step)} (± {error}) per step")
    if counter.period_steps is not None:
        parts.append(f"falls every {counter.period_steps} steps by {format_bytes(counter.amplitude_bytes or 0)}")
    return " · ".join(parts)


def _describe_end(ahead: Ahead) -> str:
    latest = "no latest" if ahead.latest is None else format_about(ahead.latest)
    text = (
        f"out of memory ({_LIMITS[ahead.limit]}) in about {format_about(ahead.steps)} steps, 90 % between "
        f"{format_about(ahead.soonest)} and {latest}"
    )
    return f"{text}; {say_time(ahead)}" if ahead.seconds_per_step is not None else text


def say_time(ahead: Ahead) -> str:
    """`about 4.3 h, 3.9 h to 4.9 h`: what the steps take; empty where no step was timed."""
    each = ahead.seconds_per_step
    if each is None:
        return ""
    soonest = format_duration(ahead.soonest * each)
    latest = "no latest" if ahead.latest is None else format_duration(ahead.latest * each)
    return f"about {format_duration(ahead.steps * each)}, {soonest} to {latest}"


def _describe_inputs(outlook: RunOutlook) -> str:
    elements, step = outlook.largest_input or (0, 0)
    text = f"largest {elements:,} elements (step {step:,})"
    if outlook.longest_input:
        text += f", longest {outlook.longest_input:,}"
    if outlook.peak_bytes_per_element is not None:
        text += f"; the peak rises by {format_bytes(outlook.peak_bytes_per_element)} per element"
    return text


def say_peak(outlook: RunOutlook) -> str:
    """The highest peak that a step is known for, and what the tensors were at one; empty where neither is known."""
    told = [(peak.bytes, peak.step, peak.phase) for peak in outlook.peaks if peak.bytes is not None]
    size, step, phase = max(told, default=(0, 0, None))
    where = f", {_IN_PHASES[phase]}" if phase else ""
    parts = [f"highest {format_bytes(size)} in step {step:,}{where}"] if told else []
    if outlook.roles_at_peak:
        by_role = [peak.step for peak in outlook.peaks if peak.bytes_by_role == outlook.roles_at_peak]
        where = f"in step {by_role[-1]:,} " if by_role else ""
        parts.append(f"{where}tensors were {_roles(outlook.roles_at_peak)}")
    if parts and told and step not in [peak.step for peak in outlook.peaks if peak.bytes_by_role]:
        parts.append("what the highest was made of is not known")
    return " · ".join(parts)


def say_step_phases(outlook: RunOutlook) -> list[str]:
    """`resident 1.20 GiB into the forward · 1.60 GiB after it · 1.30 GiB after backward ...`, a text for each counter
    that was read within steps; empty where none was."""
    counters = dict.fromkeys(each.counter for each in outlook.step_phases)
    return [_say_within([each for each in outlook.step_phases if each.counter == name]) for name in counters]


def _say_within(phases: Sequence[StepPhase]) -> str:
    name = NAMES.get(phases[0].counter, phases[0].counter)
    sizes = [format_bytes(each.lately_bytes) for each in phases]
    if len(set(sizes)) == 1 < len(sizes):
        return f"{name} {sizes[0]} at the end of each phase"
    return f"{name} {' · '.join(f'{size} {_AT_ENDS[each.phase]}' for size, each in zip(sizes, phases, strict=True))}"


def say_phases(outlook: RunOutlook) -> str:
    """`forward 0.90 MiB · backward 1.20 MiB at most, of what step 6 touched`; empty where no step was profiled."""
    peaks = outlook.phase_peaks
    if peaks is None:
        return ""
    parts = (f"{phase} {format_bytes(size)}" for phase, size in peaks.bytes.items() if size)
    return f"{' · '.join(parts)} at most, of what step {peaks.step:,} touched"


def _peak_rows(outlook: RunOutlook) -> Iterator[tuple[str, str]]:
    """The same, and why peaks differ."""
    if peak := say_peak(outlook):
        yield "peak", peak
    for number, within in enumerate(say_step_phases(outlook)):
        yield "" if number else "in steps", within
    if phases := say_phases(outlook):
        yield "phases", phases
    shares = outlook.peak_shares
    if shares is not None:
        carried = f"{_percent(shares.carried)} with what was carried over from the step before"
        text = f"{_percent(shares.batch)} with the batch, {carried}"
        yield "peaks differ", f"{text}, {_percent(shares.rest)} with neither ({shares.num_peaks} new highest peaks)"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _roles(roles: dict[str, int]) -> str:
    heavy = sorted(((size, role) for role, size in roles.items() if size), reverse=True)
    return " · ".join(f"{role.replace('_', ' ')} {format_bytes(size)}" for size, role in heavy)


def _pace(seconds: float) -> str:
    return f"{seconds:.2f} s per step" if seconds >= 1 else f"{1 / seconds:,.1f} steps per second"


def outlook_as_dict(outlook: RunOutlook) -> dict[str, object]:
    """The same for `--json`; bytes that were not measured are null."""
    from dataclasses import asdict

    return asdict(outlook)
