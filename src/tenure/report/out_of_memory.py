"""An out-of-memory error of a trace, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tenure.allocator.out_of_memory import FreeMemory, OutOfMemory, Release
from tenure.allocator.steps import Basis
from tenure.allocator.story import Story
from tenure.model.allocator import DEFAULT_POOL, Snapshot
from tenure.model.units import format_bytes
from tenure.report.block_words import blocks_text, phase_name, phase_text, role_text
from tenure.report.stack_line import frames_as_dicts, stack_line

_MOST_WAYS = 3


def out_of_memory_rows(snapshot: Snapshot, story: Story, error: OutOfMemory) -> Iterator[tuple[str, str]]:
    """What was asked for, why nothing fitted, and what would have."""
    yield "ran out", _asked_text(snapshot, story, error)
    yield "", _device_text(error)
    yield "", _free_text(error.free)
    roles = (f"{role_text(role)} {format_bytes(size)}" for role, size in error.in_use.by_role.items())
    yield "", f"in use {format_bytes(error.in_use_bytes)}: {' · '.join(roles)}"
    yield from (("would fit", text) for text in _ways(snapshot, error))


def out_of_memory_as_dict(snapshot: Snapshot, story: Story, error: OutOfMemory) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "event": error.event,
        "errors": error.num_errors,
        "step": None if story.steps.basis is Basis.NONE else story.step_at(error.event),
        "phase": phase_name(story.phase_at(error.event)),
        "asked_bytes": error.asked_bytes,
        "stream": error.stream,
        "pool": list(error.pool),
        "segment_bytes": error.segment_bytes,
        "device_free_bytes": error.device_free_bytes,
        "reserved_bytes": error.reserved_bytes,
        "in_use_bytes": error.in_use_bytes,
        "limit_bytes": error.limit_bytes,
        "lacking_bytes": error.lacking_bytes,
        "held_back_by_fraction": error.is_held_back,
        "free": asdict(error.free),
        "by_role": {role.name.lower(): size for role, size in error.in_use.by_role.items()},
        "line": stack_line(snapshot, error.stack),
        "frames": frames_as_dicts(snapshot, error.stack),
        "settings": None if error.settings is None else list(error.settings),
        "releases": None
        if error.releases is None
        else [_release_as_dict(snapshot, release) for release in error.releases],
    }


def _asked_text(snapshot: Snapshot, story: Story, error: OutOfMemory) -> str:
    phase = phase_text(story.phase_at(error.event))
    step = "" if story.steps.basis is Basis.NONE else f"{' of' if phase else ' in'} step {story.step_at(error.event)}"
    times = f", the last of {error.num_errors:,} errors" if error.num_errors > 1 else ""
    pool = "" if error.pool == DEFAULT_POOL else f" from private pool {error.pool}"
    when = f"at event {error.event:,}{f' {phase}' if phase else ''}{step}{times}"
    asked = f"{format_bytes(error.asked_bytes)} asked for{pool} on stream {error.stream:#x}"
    return f"{asked} {when}: {stack_line(snapshot, error.stack)}"


def _device_text(error: OutOfMemory) -> str:
    needed = f"a segment of {format_bytes(error.segment_bytes)} was needed"
    left = f"the device had {format_bytes(error.device_free_bytes)} left"
    limit = f"{format_bytes(error.reserved_bytes)} were reserved"
    if error.is_held_back:
        return f"{needed} and {left}: a memory fraction or the driver stood in the way; {limit}"
    short = format_bytes(error.segment_bytes - error.device_free_bytes)
    return f"{needed}, {left}, {short} too few; {limit}"


def _free_text(free: FreeMemory) -> str:
    others = [
        f"{format_bytes(size)} {where}"
        for size, where in (
            (free.other_size, "in segments for the other class of sizes"),
            (free.other_streams, "of other streams"),
            (free.other_pools, "of other pools"),
        )
        if size
    ]
    also = f"; not to be used: {', '.join(others)}" if others else ""
    largest = f"the largest free block {format_bytes(free.largest)}" if free.same else "no block"
    return f"free for it: {format_bytes(free.same)}, {largest}{also}"


def _ways(snapshot: Snapshot, error: OutOfMemory) -> Iterator[str]:
    for text in (error.settings or ())[:_MOST_WAYS]:
        yield f"by replay with PYTORCH_ALLOC_CONF={text}"
    for release in (error.releases or ())[:_MOST_WAYS]:
        size = f"{format_bytes(release.bytes)} of {role_text(release.role)}"
        yield f"by replay without {size}, {_where(snapshot, release)}"
    if error.lacking_bytes:
        lacking = format_bytes(error.lacking_bytes)
        yield f"what is in use and this request are {lacking} more than there is: no setting helps, only less in use"
    elif error.settings == () and not error.releases:
        yield "by none of the settings tried, nor without any one place's blocks that a step may do without"
    elif error.releases is None:
        yield "not told: the replay of what was recorded does not run out of memory there"
    elif error.settings is None:
        yield "settings are not judged: what was there before the trace would lie better if it were asked for anew"


def _where(snapshot: Snapshot, release: Release) -> str:
    return f"{blocks_text(release.num_blocks)}: {stack_line(snapshot, release.stack)}"


def _release_as_dict(snapshot: Snapshot, release: Release) -> dict[str, Any]:
    return {
        "role": release.role.name.lower(),
        "bytes": release.bytes,
        "blocks": release.num_blocks,
        "line": stack_line(snapshot, release.stack),
    }
