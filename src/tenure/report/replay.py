"""Whether a replay of an allocator's trace came out as recorded, in words and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tenure.allocator.replay import Replay


def replay_text(replay: Replay) -> str:
    """One sentence: all of it, or where it left the trace and how much was as recorded."""
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


def replay_as_dict(replay: Replay) -> dict[str, Any]:
    """The same for `--json`."""
    difference = replay.first_difference
    return {
        "allocations": replay.num_allocations,
        "allocations_equal": replay.num_allocations_equal,
        "segments": replay.num_segments,
        "segments_equal": replay.num_segments_equal,
        "blocks_equal": replay.blocks_equal,
        "first_difference": None if difference is None else asdict(difference),
        "earlier_blocks": len(replay.earlier.blocks),
        "earlier_guessed": replay.earlier.num_guessed,
    }
