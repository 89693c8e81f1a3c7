"""What keeps free memory from being used, and what another order would have saved, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tenure.allocator.pins import Fragmentation, Pin
from tenure.allocator.steps import Basis
from tenure.allocator.story import Story
from tenure.model.allocator import Snapshot
from tenure.model.units import format_bytes
from tenure.report.block_words import blocks_text, born_text, phase_name, role_text
from tenure.report.stack_line import frames_as_dicts, stack_line

_MOST_PINS = 3
_MOST_ROOMS = 20
_LEAST_SHARE = 0.01
"""Of what is reserved: places that pin less are in the JSON only."""


def fragmentation_rows(snapshot: Snapshot, story: Story, found: Fragmentation) -> Iterator[tuple[str, str]]:
    """Where free memory lay when most was reserved, and the places that pinned most of it."""
    where = "before the first event" if found.event < 0 else f"after event {found.event:,}"
    yield (
        "fragments",
        f"{where} {format_bytes(found.reserved_bytes)} were reserved: {format_bytes(found.free_bytes)} in segments "
        f"without a block in use, {format_bytes(found.stuck_bytes)} stuck beside blocks in use",
    )
    for pin in found.pins[:_MOST_PINS]:
        if pin.stuck_bytes < _LEAST_SHARE * found.reserved_bytes:
            break
        yield "", _pin_text(snapshot, story, pin)
        yield from (("", text) for text in _saved_texts(pin))


def fragmentation_as_dict(snapshot: Snapshot, story: Story, found: Fragmentation) -> dict[str, Any]:
    """The same for `--json`; of each place the segments with the most free bytes."""
    return {
        "event": found.event,
        "reserved_bytes": found.reserved_bytes,
        "free_bytes": found.free_bytes,
        "stuck_bytes": found.stuck_bytes,
        "pins": [_pin_as_dict(snapshot, story, pin) for pin in found.pins],
    }


def _pin_text(snapshot: Snapshot, story: Story, pin: Pin) -> str:
    segments = "1 segment" if len(pin.rooms) == 1 else f"{len(pin.rooms):,} segments"
    born = "" if pin.phase is None else born_text(pin.phase, comma=True)
    stuck, held = format_bytes(pin.stuck_bytes), f"{format_bytes(pin.pin_bytes)} in {blocks_text(len(pin.rooms))}"
    by = f"{role_text(pin.role)}, {held}{born} {_since(story, pin)}"
    return f"{stuck} stuck in {segments} by {by}: {stack_line(snapshot, pin.stack)}"


def _since(story: Story, pin: Pin) -> str:
    if pin.since_event < 0:
        return "since before the trace"
    step = "" if story.steps.basis is Basis.NONE else f" in step {story.step_at(pin.since_event)}"
    return f"since event {pin.since_event:,}{step}"


def _saved_texts(pin: Pin) -> Iterator[str]:
    """What a replay of another order reserved less; ways that save nothing are left out."""
    saved = pin.saved
    if saved.absent is None:
        return
    ways = []
    if saved.first is not None and saved.first > 0:
        ways.append(f"{format_bytes(saved.first)} less had they been asked for first")
    if saved.own_pool is not None and saved.own_pool > 0:
        ways.append(f"{format_bytes(saved.own_pool)} less had their line used a torch.cuda.MemPool of its own")
    if saved.absent > saved.held_bytes:
        more = format_bytes(saved.absent - saved.held_bytes)
        ways.append(f"{format_bytes(saved.absent)} less without them, {more} more than they hold")
    yield f"replayed: {'; '.join(ways)}" if ways else "replayed: no other order of theirs saves anything"


def _pin_as_dict(snapshot: Snapshot, story: Story, pin: Pin) -> dict[str, Any]:
    lives = story.lives
    return {
        "role": pin.role.name.lower(),
        "phase": "before the trace" if pin.phase is None else phase_name(pin.phase),
        "stuck_bytes": pin.stuck_bytes,
        "pin_bytes": pin.pin_bytes,
        "segments": len(pin.rooms),
        "since_event": pin.since_event,
        "since_step": None if story.steps.basis is Basis.NONE else story.step_at(pin.since_event),
        "line": stack_line(snapshot, pin.stack),
        "frames": frames_as_dicts(snapshot, pin.stack),
        "saved_bytes": asdict(pin.saved),
        "largest": [
            {
                "segment": room.address,
                "segment_bytes": room.bytes,
                "free_bytes": room.free_bytes,
                "block": int(lives.address[room.row]),
                "block_bytes": int(lives.bytes[room.row]),
                "born_event": int(lives.born[room.row]),
            }
            for room in pin.rooms[:_MOST_ROOMS]
        ],
    }
