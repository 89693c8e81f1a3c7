"""What lies in pools of their own (CUDA graphs, `torch.cuda.MemPool`): the allocator's sums have it among all other."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from tenure.capture.sampling.allocator_history import is_recorded, started_backend

SHARED_POOL = (0, 0)


def read_private_pools() -> dict[str, int]:
    """Of the current device: how many pools, and what they have reserved and given out; empty without a device, and
    where it cannot be asked without copying a record of allocations (torch before 2.9 that records).

    The allocator lists all of its blocks for it, so it is asked at few steps.
    """
    name = started_backend()
    if name is None:
        return {}
    backend: Any = getattr(sys.modules["torch"], name)
    with suppress(RuntimeError):
        if not getattr(backend, "is_current_stream_capturing", bool)():
            segments = _segments(backend, name)
            return {} if segments is None else private_pool_counters(segments, device=int(backend.current_device()))
    return {}


def private_pool_counters(segments: Iterable[Mapping[str, Any]], *, device: int) -> dict[str, int]:
    """Our counters from torch's segments; empty where these do not say their pools."""
    there = [segment for segment in segments if segment.get("device") == device]
    if not there or not all("segment_pool_id" in segment for segment in there):
        return {}
    private = [segment for segment in there if tuple(segment["segment_pool_id"]) != SHARED_POOL]
    return {
        "num_private_pools": len({tuple(segment["segment_pool_id"]) for segment in private}),
        "private_reserved_bytes": sum(int(segment["total_size"]) for segment in private),
        "private_allocated_bytes": sum(int(segment["allocated_size"]) for segment in private),
    }


def _segments(backend: Any, name: str) -> Iterable[Mapping[str, Any]] | None:
    ask = getattr(backend, "memory_snapshot", None)
    if ask is None:
        return None
    try:
        found: Iterable[Mapping[str, Any]] = ask(include_traces=False)
    except TypeError:  # an older torch
        return None if is_recorded(name) else ask()
    return found
