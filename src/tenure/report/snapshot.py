"""A memory snapshot, its replay and the advice that follows, as text and as JSON; analyses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tenure.allocator.advisor import Advice, Candidate
from tenure.allocator.at_peak import Composition, StackBytes
from tenure.allocator.replay import Replay
from tenure.allocator.unused import Unused
from tenure.model.allocator import Snapshot
from tenure.model.units import format_bytes
from tenure.report.outlook import render_rows

_MOST_STACKS = 5
_UNCONFIRMED = "by torch's rules; no recorded trace has confirmed them for such settings"
_LIBRARY_PARTS = ("/torch/", "\\torch\\", "<frozen", "/contextlib.py", "/runpy.py")


def render_snapshot(
    snapshot: Snapshot, replay: Replay, parts: Composition, unused: Unused, *, width: int, ascii_only: bool = False
) -> str:
    """One device's snapshot as lines of at most `width`."""
    return render_rows(_snapshot_rows(snapshot, replay, parts, unused), width=width, ascii_only=ascii_only)


def snapshot_as_dict(snapshot: Snapshot, replay: Replay, parts: Composition, unused: Unused) -> dict[str, Any]:
    """The same as `tenure snapshot --json` gives it for one device; null where nothing is known."""
    difference = replay.first_difference
    return {
        "device": replay.device,
        "events": replay.num_events,
        "segments": int((snapshot.segments.device == replay.device).sum()),
        "peak": {
            "active_bytes": replay.active.bytes,
            "reserved_bytes": replay.reserved.bytes,
            "event": replay.active.event,
            "by_role": None,
            "by_stack": [_stack_as_dict(snapshot, each) for each in parts.at_peak],
            "earlier_bytes": parts.earlier_bytes,
        },
        "fragmentation": {
            "reserved_bytes": unused.reserved_bytes,
            "in_use_bytes": unused.in_use_bytes,
            "cached_bytes": unused.cached_bytes,
            "pinned_bytes": unused.pinned_bytes,
            "slack_bytes": unused.slack_bytes,
            "pinned": [{**asdict(each), "line": _line(snapshot, each.stack)} for each in unused.pinned],
        },
        "leaks": [_stack_as_dict(snapshot, each) for each in parts.never_freed],
        "replay": {
            "allocations": replay.num_allocations,
            "allocations_equal": replay.num_allocations_equal,
            "segments": replay.num_segments,
            "segments_equal": replay.num_segments_equal,
            "blocks_equal": replay.blocks_equal,
            "first_difference": None if difference is None else asdict(difference),
            "earlier_blocks": len(replay.earlier.blocks),
            "earlier_guessed": replay.earlier.num_guessed,
        },
        "phases": None,
        "unknown_actions": dict(snapshot.unknown_actions),
    }


def render_advice(advice: Advice, replay: Replay, *, width: int, ascii_only: bool = False) -> str:
    """What to set, or that nothing is to be gained, as lines of at most `width`."""
    return render_rows(_advice_rows(advice, replay), width=width, ascii_only=ascii_only)


def advice_as_dict(advice: Advice, replay: Replay) -> dict[str, Any]:
    """The same as `tenure advise --json` gives it for one device."""
    return {
        "device": replay.device,
        "floor_bytes": advice.floor_bytes,
        "recorded": _candidate_as_dict(advice.recorded),
        "candidates": list(map(_candidate_as_dict, advice.candidates)),
        "advice": environment_line(advice.best.settings) if advice.best is not None and replay.is_equal else None,
    }


def environment_line(settings: str) -> str:
    """What to put before the command; torch up to 2.8 reads the older name."""
    return f"PYTORCH_ALLOC_CONF={settings}"


def _snapshot_rows(snapshot: Snapshot, replay: Replay, parts: Composition, unused: Unused) -> Iterator[tuple[str, str]]:
    earlier = format_bytes(sum(block.requested for block in replay.earlier.blocks))
    yield f"device {replay.device}", f"{replay.num_events:,} events; {earlier} were in use before the first"
    yield "replay", _replay_text(replay)
    where = "before the first event" if replay.active.event < 0 else f"after event {replay.active.event:,}"
    yield "peak", f"{format_bytes(replay.active.bytes)} in use {where}; {format_bytes(replay.reserved.bytes)} reserved"
    for each in parts.at_peak[:_MOST_STACKS]:
        yield "", f"{format_bytes(each.bytes)} in {_blocks(each.num_blocks)}: {_line(snapshot, each.stack)}"
    yield (
        "at the end",
        (
            f"{format_bytes(unused.reserved_bytes)} reserved: {format_bytes(unused.in_use_bytes)} in use (of it "
            f"{format_bytes(unused.slack_bytes)} more than was asked for), {format_bytes(unused.cached_bytes)} in free "
            f"segments, which empty_cache() gives back, {format_bytes(unused.pinned_bytes)} free beside blocks in use"
        ),
    )
    for pin in unused.pinned[:_MOST_STACKS]:
        free = f"{format_bytes(pin.free_bytes)} of {format_bytes(pin.bytes)}"
        yield "", f"{free} pinned by {_blocks(pin.num_blocks)}, the largest from {_line(snapshot, pin.stack)}"
    for each in parts.never_freed[:_MOST_STACKS]:
        text = f"{format_bytes(each.bytes)} in {_blocks(each.num_blocks)}, born all along the trace"
        yield "never freed", f"{text}: {_line(snapshot, each.stack)}"
    if snapshot.unknown_actions:
        told = ", ".join(f"{count:,} `{action}`" for action, count in sorted(snapshot.unknown_actions.items()))
        yield "left out", f"{told}: not known to this version"


def _replay_text(replay: Replay) -> str:
    if replay.num_events == 0:
        return "there is no trace; torch.cuda.memory._record_memory_history() at the program's start records one"
    if replay.is_equal:
        return (
            f"every one of {replay.num_allocations:,} allocations at its recorded address, "
            f"{replay.num_segments:,} segments of the recorded size"
        )
    difference = replay.first_difference
    left = "the blocks at the end differ" if difference is None else f"event {difference.event:,}: {difference.text}"
    counts = f"{replay.num_allocations_equal:,} of {replay.num_allocations:,} allocations as recorded"
    stopped = "" if replay.is_whole else "; what follows was not played"
    guessed = replay.earlier.num_guessed
    why = f"; of {guessed:,} earlier blocks the size had to be guessed" if guessed else ""
    return f"left the trace at {left}; {counts}{stopped}{why}"


def _advice_rows(advice: Advice, replay: Replay) -> Iterator[tuple[str, str]]:
    floor, recorded, best = advice.floor_bytes, advice.recorded, advice.best
    settings = recorded.settings or "the defaults"
    yield (
        f"device {replay.device}",
        f"{format_bytes(recorded.peak_reserved_bytes)} reserved at the peak, with {settings}",
    )
    yield "floor", f"{format_bytes(floor)} were in use at once: no setting reserves less"
    if not replay.is_equal:
        yield "advice", f"none: the replay of what was recorded {_replay_text(replay)}"
        return
    if best is None:
        over = recorded.peak_reserved_bytes - floor
        yield "advice", f"nothing to gain: {format_bytes(over)} lie above the floor, and no setting tried saves enough"
        return
    saved = recorded.peak_reserved_bytes - best.peak_reserved_bytes
    yield "advice", environment_line(best.settings)
    yield "", f"(PYTORCH_CUDA_ALLOC_CONF={best.settings} up to torch 2.8)"
    yield (
        "predicted",
        (
            f"{format_bytes(best.peak_reserved_bytes)} reserved at the peak, {format_bytes(saved)} less, with "
            f"{best.num_device_allocations:,} device allocations instead of {recorded.num_device_allocations:,}"
        ),
    )
    if not best.is_confirmed:
        yield "how sure", f"the recorded settings came out exactly as recorded; those advised are played {_UNCONFIRMED}"


def _candidate_as_dict(candidate: Candidate) -> dict[str, Any]:
    return {
        "settings": candidate.settings,
        "peak_reserved_bytes": candidate.peak_reserved_bytes,
        "device_allocations": candidate.num_device_allocations,
        "note": "" if candidate.is_confirmed else f"played {_UNCONFIRMED}",
    }


def _stack_as_dict(snapshot: Snapshot, each: StackBytes) -> dict[str, Any]:
    frames = [snapshot.frames[row] for row in snapshot.stacks[each.stack]] if each.stack >= 0 else []
    told = [{"function": frame.function, "file": frame.file, "line": frame.line} for frame in frames]
    return {"bytes": each.bytes, "blocks": each.num_blocks, "frames": told}


def _line(snapshot: Snapshot, stack: int) -> str:
    """The innermost frame of Python that is not torch's own; else the innermost of all."""
    if stack < 0:
        return "no stack was recorded"
    frames = [snapshot.frames[row] for row in snapshot.stacks[stack]]
    python = [frame for frame in frames if frame.file.endswith((".py", ">")) and frame.line > 0]
    own = [frame for frame in python if not any(part in frame.file for part in _LIBRARY_PARTS)]
    if own or python:
        frame = (own or python)[0]
        return f"{frame.file.split('site-packages/')[-1]}:{frame.line} in {frame.function}"
    return "no frame of Python: backward, or a thread of C++"


def _blocks(number: int) -> str:
    return "1 block" if number == 1 else f"{number:,} blocks"
