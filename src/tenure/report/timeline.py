"""How full memory was in the course of a trace: a row of bars for a terminal, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenure.allocator.replay import Replay
from tenure.allocator.timeline import Timeline
from tenure.model.heap import Ints

LEAST_EVENTS = 200
"""Shorter traces are told by their peak alone."""
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = ".:-=+*#%"
_MOST_BARS = 60


def timeline_rows(timeline: Timeline, replay: Replay, *, ascii_only: bool) -> Iterator[tuple[str, str]]:
    """What was in use and what was reserved, as shares of the most that was reserved; none of a short trace."""
    if replay.num_events < LEAST_EVENTS:
        return
    bars = _ASCII_BARS if ascii_only else _BARS
    most = int(timeline.reserved_bytes.max(initial=1))
    yield "in use", _bars(timeline.active_bytes, most, bars)
    yield "reserved", _bars(timeline.reserved_bytes, most, bars)


def timeline_as_dict(timeline: Timeline) -> dict[str, Any]:
    """The same for `--json`, in more stretches."""
    return {
        "event": timeline.event.tolist(),
        "time_us": timeline.time_us.tolist(),
        "active_bytes": timeline.active_bytes.tolist(),
        "requested_bytes": timeline.requested_bytes.tolist(),
        "reserved_bytes": timeline.reserved_bytes.tolist(),
    }


def _bars(levels: Ints, most: int, bars: str) -> str:
    starts = np.unique(np.linspace(0, len(levels), min(_MOST_BARS, len(levels)), endpoint=False).astype(np.int64))
    shares = np.maximum.reduceat(levels, starts) / most
    return "".join(bars[min(int(share * len(bars)), len(bars) - 1)] for share in shares.tolist())
