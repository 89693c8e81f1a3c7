"""A memory snapshot and what happened in it, as text and as JSON; analyses nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tenure.allocator.at_peak import Composition, Part, StepPhase
from tenure.allocator.earlier_state import is_cut_off
from tenure.allocator.leaks import Leak
from tenure.allocator.out_of_memory import OutOfMemory
from tenure.allocator.pins import Fragmentation
from tenure.allocator.replay import Replay
from tenure.allocator.steps import Basis
from tenure.allocator.story import Story
from tenure.allocator.timeline import Timeline
from tenure.allocator.torch_frames import Phase
from tenure.allocator.unused import PinnedSegment, Unused
from tenure.model.allocator import Snapshot
from tenure.model.live_block import OwnedBlock
from tenure.model.units import format_bytes, format_number
from tenure.report.block_words import blocks_text, born_text, phase_name, phase_text, role_text
from tenure.report.fragmentation import fragmentation_as_dict, fragmentation_rows
from tenure.report.out_of_memory import out_of_memory_as_dict, out_of_memory_rows
from tenure.report.outlook import render_rows
from tenure.report.owners import holder_rows, holders_as_dicts, holders_text
from tenure.report.replay import replay_as_dict, replay_text
from tenure.report.stack_line import frames_as_dicts, place_text, stack_line
from tenure.report.timeline import timeline_as_dict, timeline_rows

_MOST_PARTS = 5
_MOST_MODULES = 4
_LEAST_SHARE = 0.01
"""Of the peak: smaller roles are in the JSON only."""
_BASES = {
    Basis.ANNOTATIONS: "the profiler's annotations",
    Basis.OPTIMIZER: "the optimizer's steps",
    Basis.BACKWARD: "the ends of backward",
    Basis.CALLS: "calls of modules",
    Basis.PERIOD: "requests that come again",
}


@dataclass(frozen=True)
class Told:
    """All that is known of one device of a snapshot; `owners` by address, empty without a recording beside it."""

    snapshot: Snapshot
    replay: Replay
    story: Story
    peak: Composition
    by_step: tuple[StepPhase, ...]
    leaks: tuple[Leak, ...]
    unused: Unused
    timeline: Timeline | None
    fragmentation: Fragmentation | None
    out_of_memory: OutOfMemory | None
    owners: Mapping[int, OwnedBlock]


def render_snapshot(told: Told, *, width: int, ascii_only: bool = False) -> str:
    """One device's snapshot as lines of at most `width`."""
    return render_rows(_rows(told, ascii_only=ascii_only), width=width, ascii_only=ascii_only)


def snapshot_as_dict(told: Told) -> dict[str, Any]:
    """The same as `tenure snapshot --json` gives it for one device; null where nothing is known."""
    snapshot, replay, story, unused = told.snapshot, told.replay, told.story, told.unused
    return {
        "device": replay.device,
        "events": replay.num_events,
        "events_lost": is_cut_off(snapshot.traces.get(replay.device), replay.earlier),
        "segments": int((snapshot.segments.device == replay.device).sum()),
        "peak": {
            "active_bytes": replay.active.bytes,
            "reserved_bytes": replay.reserved.bytes,
            "event": replay.active.event,
            "step": None if story.steps.basis is Basis.NONE else story.step_at(replay.active.event),
            "phase": phase_name(story.phase_at(replay.active.event)),
            "annotation": story.annotation_at(replay.active.event) or None,
            "by_role": {role.name.lower(): size for role, size in told.peak.by_role.items()},
            "by_label": told.peak.by_label or None,
            "by_module": [{**asdict(line), "bytes": size} for line, size in told.peak.by_module.items()],
            "by_stack": [_part_as_dict(snapshot, part) for part in told.peak.parts],
            "earlier_bytes": told.peak.earlier_bytes,
        },
        "fragmentation": {
            "reserved_bytes": unused.reserved_bytes,
            "in_use_bytes": unused.in_use_bytes,
            "cached_bytes": unused.cached_bytes,
            "pinned_bytes": unused.pinned_bytes,
            "slack_bytes": unused.slack_bytes,
            "pinned": [{**asdict(each), "line": stack_line(snapshot, each.stack)} for each in unused.pinned],
            "at_peak": None
            if told.fragmentation is None
            else fragmentation_as_dict(snapshot, story, told.fragmentation),
        },
        "out_of_memory": None
        if told.out_of_memory is None
        else out_of_memory_as_dict(snapshot, story, told.out_of_memory),
        "leaks": [_leak_as_dict(told, leak) for leak in told.leaks],
        "holders": holders_as_dicts(told.owners.values()),
        "replay": replay_as_dict(replay),
        "steps": {"basis": story.steps.basis.value, "ends": list(story.steps.ends)},
        "timeline": None if told.timeline is None else timeline_as_dict(told.timeline),
        "phases": [{**asdict(each), "phase": phase_name(each.phase)} for each in told.by_step],
        "annotations": [asdict(each) for each in story.annotated],
        "unknown_actions": dict(snapshot.unknown_actions),
    }


def _rows(told: Told, *, ascii_only: bool) -> Iterator[tuple[str, str]]:
    replay, unused, snapshot = told.replay, told.unused, told.snapshot
    earlier = format_bytes(sum(block.requested for block in replay.earlier.blocks))
    yield f"device {replay.device}", f"{replay.num_events:,} events; {earlier} were in use before the first"
    if is_cut_off(snapshot.traces.get(replay.device), replay.earlier):
        more = f"_record_memory_history(max_entries={10 * replay.num_events:_})"
        yield "lost", f"what came before is gone: the record was full, it seems; {more} keeps ten times as many"
    yield "replay", replay_text(replay)
    if told.story.steps.basis is not Basis.NONE:
        yield "steps", f"{len(told.story.steps.ends):,} ended in the trace, by {_BASES[told.story.steps.basis]}"
    if told.timeline is not None:
        yield from timeline_rows(told.timeline, replay, ascii_only=ascii_only)
    yield from _peak_rows(told)
    if told.out_of_memory is not None:
        yield from out_of_memory_rows(snapshot, told.story, told.out_of_memory)
    yield (
        "at the end",
        (
            f"{format_bytes(unused.reserved_bytes)} reserved: {format_bytes(unused.in_use_bytes)} in use (of it "
            f"{format_bytes(unused.slack_bytes)} more than was asked for), {format_bytes(unused.cached_bytes)} in free "
            f"segments, which empty_cache() gives back, {format_bytes(unused.pinned_bytes)} free beside blocks in use"
        ),
    )
    yield from holder_rows(told.owners.values())
    for text, count in list(Counter(_pin_text(snapshot, pin) for pin in unused.pinned).items())[:_MOST_PARTS]:
        yield "", text if count == 1 else f"{count:,} times {text}"
    if told.fragmentation is not None and told.fragmentation.stuck_bytes:
        yield from fragmentation_rows(snapshot, told.story, told.fragmentation)
    for leak in told.leaks[:_MOST_PARTS]:
        held = _held_by(told, leak)
        yield "grows", f"{_leak_text(snapshot, leak)}{f'; held by {held}' if held else ''}"
    if snapshot.unknown_actions:
        names = ", ".join(f"{count:,} `{action}`" for action, count in sorted(snapshot.unknown_actions.items()))
        yield "left out", f"{names}: not known to this version"


def _pin_text(snapshot: Snapshot, pin: PinnedSegment) -> str:
    free = f"{format_bytes(pin.free_bytes)} of {format_bytes(pin.bytes)}"
    return f"{free} pinned by {blocks_text(pin.num_blocks)}, the largest from {stack_line(snapshot, pin.stack)}"


def _peak_rows(told: Told) -> Iterator[tuple[str, str]]:
    replay, story, peak = told.replay, told.story, told.peak
    where = "before the first event" if replay.active.event < 0 else f"after event {replay.active.event:,}"
    phase = story.phase_at(replay.active.event)
    during = f", {phase_text(phase)}" if phase is not Phase.UNKNOWN else ""
    step = f" of step {story.step_at(replay.active.event)}" if during and story.steps.basis is not Basis.NONE else ""
    name = story.annotation_at(replay.active.event)
    named = f" (`{name}`)" if name else ""
    full = f"{format_bytes(replay.active.bytes)} in use {where}{during}{step}{named}"
    yield "peak", f"{full}; {format_bytes(replay.reserved.bytes)} reserved"
    heavy = [(role, size) for role, size in peak.by_role.items() if size >= _LEAST_SHARE * max(replay.active.bytes, 1)]
    if heavy:
        yield "by role", " · ".join(f"{role_text(role)} {format_bytes(size)}" for role, size in heavy)
    if len(peak.by_module) > 1:
        most = list(peak.by_module.items())[:_MOST_MODULES]
        text = " · ".join(f"{place_text(line)} {format_bytes(size)}" for line, size in most)
        yield "by module", text
    if peak.by_label:
        sizes = ((f"`{label}`" if label else "not named", format_bytes(size)) for label, size in peak.by_label.items())
        yield "by label", " · ".join(list(map(" ".join, sizes))[:_MOST_PARTS])
    for part in peak.parts[:_MOST_PARTS]:
        yield "", f"{format_bytes(part.bytes)} {_part_text(part)}: {stack_line(told.snapshot, part.stack)}"


def _part_text(part: Part) -> str:
    return f"{role_text(part.role)} in {blocks_text(part.num_blocks)}{born_text(part.phase, comma=True)}"


def _leak_text(snapshot: Snapshot, leak: Leak) -> str:
    """What stays of each step, and where it is asked for."""
    number = format_number(leak.blocks_per_step)
    blocks = "1 block" if number == "1" else f"{number} blocks"
    size = format_bytes(leak.bytes_per_step)
    stays = f"{size} in {blocks} of {leak.num_steps} steps, {format_bytes(leak.bytes)} by now, never freed"
    return f"{stays}{born_text(leak.phase, comma=True)}: {stack_line(snapshot, leak.stack)}"


def _part_as_dict(snapshot: Snapshot, part: Part) -> dict[str, Any]:
    return {
        "role": part.role.name.lower(),
        "phase": "before the trace" if part.phase is None else phase_name(part.phase),
        "bytes": part.bytes,
        "blocks": part.num_blocks,
        "frames": frames_as_dicts(snapshot, part.stack),
    }


def _held_by(told: Told, leak: Leak) -> str:
    """The names that lead to most of a leak's blocks; "" where none is known."""
    addresses = told.story.lives.address[list(leak.rows)].tolist()
    return holders_text(map(told.owners.get, addresses))


def _leak_as_dict(told: Told, leak: Leak) -> dict[str, Any]:
    snapshot = told.snapshot
    return {
        "held_by": _held_by(told, leak) or None,
        "bytes": leak.bytes,
        "blocks": leak.num_blocks,
        "bytes_per_step": leak.bytes_per_step,
        "blocks_per_step": leak.blocks_per_step,
        "steps": leak.num_steps,
        "first_step": leak.first_step,
        "first_event": leak.first_event,
        "phase": phase_name(leak.phase),
        "line": stack_line(snapshot, leak.stack),
        "frames": frames_as_dicts(snapshot, leak.stack),
    }
