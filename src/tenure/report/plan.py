"""What a program would need on a device, as text and as JSON; analyses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any

from tenure.model.plan import FAR, MOST, TOLERANCE, Constant, Fit, IdleAtPeak, LargestSize, Moment, Plan, TokenBudget
from tenure.model.units import format_bytes
from tenure.report.layout import relative_to_here
from tenure.report.options import option_as_dict, render_options
from tenure.report.outlook import render_rows

_LEAST_SHARE = 0.005
"""Of the peak: smaller uses are in the JSON only."""
BASIS = (
    "births and deaths of storages in two steps of the program, played by the rules of torch's allocator from what was "
    "there before them; on an H200 they were 0.70 to 1.09 of what 17 programs had in use, 9 of these within 5 %"
)


def render_plan(plan: Plan, *, width: int, ascii_only: bool = False) -> str:
    """What is needed, when and for what, and whether it fits, as lines of at most `width`."""
    text = render_rows(_rows(plan), width=width, ascii_only=ascii_only)
    return text if plan.options is None else text + render_options(plan, plan.options, width=width)


def plan_as_dict(plan: Plan) -> dict[str, Any]:
    """The same as `tenure plan --json` gives it."""
    return {
        "format": 1,
        "steps": list(plan.steps),
        "recorded_on": plan.recorded_on,
        "settings": plan.settings,
        "world_size": plan.world_size,
        "peak_active_bytes": plan.peak_active_bytes,
        "peak_reserved_bytes": plan.peak_reserved_bytes,
        "peak": _plain(plan.moment),
        "by_role": {use.value: size for use, size in plan.by_use.items()},
        "by_module": dict(plan.by_module),
        "peak_by_part": {part.value: size for part, size in plan.peaks.items()},
        "saved_bytes": plan.saved_bytes,
        "idle": [_plain(each) for each in plan.idle],
        "host_bytes": plan.host_bytes,
        "constants": [_plain(each) for each in plan.constants],
        "device_bytes": None if plan.fit is None else plan.fit.device_bytes,
        "fits": None if plan.fit is None else plan.fit.fits,
        "room_bytes": None if plan.fit is None else plan.fit.room_bytes,
        "retries": None if plan.fit is None else plan.fit.num_retries,
        "largest_batch": None if plan.largest_batch is None else asdict(plan.largest_batch),
        "longest": None if plan.longest is None else asdict(plan.longest),
        "token_budget": None if plan.token_budget is None else asdict(plan.token_budget),
        "unanswered": plan.unanswered,
        "options": [option_as_dict(each) for each in plan.options or ()],
        "basis": BASIS,
        "notes": list(plan.notes),
    }


def _plain(value: Any) -> dict[str, Any]:
    return {name: each.value if isinstance(each, Enum) else each for name, each in asdict(value).items()}


def _rows(plan: Plan) -> Iterator[tuple[str, str]]:
    first, second = plan.steps
    as_rank = "" if plan.world_size is None else f" as the first of {plan.world_size} ranks"
    settings = plan.settings or "the defaults"
    yield "steps", f"{first} and {second}, recorded on {plan.recorded_on}{as_rank}; allocator: {settings}"
    yield (
        "peak",
        (
            f"{format_bytes(plan.peak_active_bytes)} in use, {_moment(plan.moment)}; "
            f"{format_bytes(plan.peak_reserved_bytes)} reserved"
        ),
    )
    yield "by role", _sums({use.value: size for use, size in plan.by_use.items()}, plan.peak_active_bytes)
    yield "by module", _sums(plan.by_module, plan.peak_active_bytes)
    yield "by part", " · ".join(f"{part.value} {format_bytes(size)}" for part, size in plan.peaks.items())
    if plan.saved_bytes is not None:
        yield "saved", f"{format_bytes(plan.saved_bytes)} kept by graphs at the end of forward, on {plan.recorded_on}"
    for number, idle in enumerate(plan.idle):
        yield "" if number else "idle", _idle(idle)
    if plan.host_bytes:
        size = format_bytes(plan.host_bytes)
        yield "host", f"{size} never met the model's tensors in the two steps and are taken to stay on the host"
    for number, constant in enumerate(plan.constants):
        yield "" if number else "beside it", _constant(constant)
    if plan.fit is not None:
        yield "device", _fit(plan.fit)
    if plan.largest_batch is not None:
        yield "largest batch", _largest_size(plan.largest_batch)
    if plan.longest is not None:
        yield "longest", _largest_size(plan.longest)
    if plan.token_budget is not None:
        yield from _token_budget(plan.token_budget)
    yield "basis", BASIS
    for number, note in enumerate(plan.notes):
        yield "" if number else "notes", note


def _sums(sizes: Mapping[str, int], whole: int) -> str:
    told = [(name, size) for name, size in sizes.items() if size >= _LEAST_SHARE * whole]
    rest = sum(sizes.values()) - sum(size for _, size in told)
    return " · ".join(f"{name} {format_bytes(size)}" for name, size in [*told, *([("others", rest)] if rest else [])])


def _moment(moment: Moment) -> str:
    module = f", in {moment.module}" if moment.module else ""
    return f"in {moment.part.value} of step {moment.step}{module}{_line(moment)}"


def _line(at: Moment | IdleAtPeak) -> str:
    return f", {relative_to_here(at.file)}:{at.line} in {at.function}" if at.file else ""


def _idle(idle: IdleAtPeak) -> str:
    count = "1 storage" if idle.num_storages == 1 else f"{idle.num_storages:,} storages"
    return f"{format_bytes(idle.bytes)} of {idle.use.value} in {count} not used after the peak{_line(idle)}"


def _constant(constant: Constant) -> str:
    if constant.least_bytes is None or constant.most_bytes is None:
        return f"not counted: {constant.name} ({constant.source})"
    sizes = [format_bytes(size) for size in (constant.least_bytes, constant.most_bytes)]
    told = sizes[0] if sizes[0] == sizes[1] else " to ".join(sizes)
    return f"{told} of {constant.name} ({constant.source})"


def _largest_size(found: LargestSize) -> str:
    basis = (
        f"from runs with {_listed(found.sizes)}; for {found.confirmed or found.checked} they predict "
        f"{_checked(found.predicted_bytes, found.found_bytes)}{_how_far(found)}"
    )
    if not found.most:
        return f"none fits ({basis})"
    return f"{found.option} {_interval(found.least, found.most)}, and less by what is not counted ({basis})"


def _how_far(found: LargestSize) -> str:
    ran = found.confirmed or found.checked
    not_run = f"; nothing nearer was run: {found.why_not}" if found.why_not else ""
    if not found.is_widened or found.least >= MOST:
        return not_run
    return f"{not_run}; {found.most / ran:,.0f} times that far, and taken {TOLERANCE:.0%} wider for it"


def _token_budget(found: TokenBudget) -> Iterator[tuple[str, str]]:
    batch, length = found.checked
    yield (
        "token budget",
        (
            f"from runs with {found.batch_option} {_listed(found.batches)} and {found.length_option} "
            f"{_listed(found.lengths)}; for {batch} and {length} they predict "
            f"{_checked(found.predicted_bytes, found.found_bytes)}; less by what is not counted{_how_far_rows(found)}"
        ),
    )
    for row in found.rows:
        if row.most:
            batches = f"{found.batch_option} {_interval(row.least, row.most)}"
            up_to = f"; batch times length {row.tokens:,} for all lengths up to it" if row.tokens else ""
            yield "", f"{found.length_option} {row.length}: {batches}{up_to}"
        else:
            yield "", f"{found.length_option} {row.length}: none fits"


def _how_far_rows(found: TokenBudget) -> str:
    if not any(row.is_widened for row in found.rows):
        return ""
    return f"; beyond {FAR} times the largest that ran nothing was run, and bounds are taken {TOLERANCE:.0%} wider"


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


def _interval(least: int, most: int) -> str:
    if most >= MOST:
        return f"at least {least}; larger ones were not searched"
    return str(most) if least == most else f"{least} to {most}"


def _checked(predicted: int, found: int) -> str:
    return f"{format_bytes(predicted)} in use, and {format_bytes(found)} were"


def _fit(fit: Fit) -> str:
    size = format_bytes(fit.device_bytes)
    if fit.fits and not fit.num_retries:
        return f"{size}: fits; {format_bytes(fit.room_bytes)} are left for what is not counted"
    over = f"what is reserved and counted is {format_bytes(-fit.room_bytes)} more"
    if fit.fits:
        return f"{size}: fits, but {over}: cached segments would go back {fit.num_retries:,} times, and steps be slower"
    return f"{size}: does not fit; {over}"
