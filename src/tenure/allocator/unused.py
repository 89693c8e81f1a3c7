"""What is reserved and not in use at the end of a trace: segments that could go back, and those that blocks pin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tenure.model.allocator import BlockState, Snapshot

Bools = NDArray[np.bool_]
_MOST_PINNED = 64


@dataclass(frozen=True)
class PinnedSegment:
    """A segment of which little is in use: `free_bytes` cannot go back while `num_blocks` blocks lie in it.

    `stack` is that of its largest block in use.
    """

    address: int
    bytes: int
    free_bytes: int
    num_blocks: int
    stack: int


@dataclass(frozen=True)
class Unused:
    """Reserved memory of one device by what becomes of it.

    `cached_bytes` lie in segments without a block in use: `torch.cuda.empty_cache()` gives them back. `pinned_bytes`
    are free parts of the others. `slack_bytes` are of blocks in use, beyond what was asked for. `pinned` has the 64
    segments with the most free bytes first.
    """

    reserved_bytes: int
    in_use_bytes: int
    cached_bytes: int
    pinned_bytes: int
    slack_bytes: int
    pinned: tuple[PinnedSegment, ...]


def unused_at_end(snapshot: Snapshot, device: int) -> Unused:
    """Where the free memory of a device lies in the snapshot itself."""
    segments, blocks = snapshot.segments, snapshot.blocks
    of_device = segments.device[blocks.segment] == device
    used = (blocks.state != BlockState.INACTIVE) & of_device
    in_use = np.bincount(blocks.segment[used], blocks.bytes[used], len(segments)).astype(np.int64)
    mine = segments.device == device
    free = np.where(mine, segments.bytes - in_use, 0)
    cached = int(free[mine & (in_use == 0)].sum())
    pinned_rows = np.flatnonzero(mine & (in_use > 0) & (free > 0))
    pinned_rows = pinned_rows[np.argsort(-free[pinned_rows], kind="stable")]
    reserved, total = int(segments.bytes[mine].sum()), int(in_use[mine].sum())
    slack = total - int(blocks.requested[used].sum())
    pinned = tuple(_pinned(snapshot, int(row), int(free[row]), used) for row in pinned_rows[:_MOST_PINNED])
    return Unused(reserved, total, cached, reserved - total - cached, slack, pinned)


def _pinned(
    snapshot: Snapshot, row: int, free_bytes: int, used: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> PinnedSegment:
    blocks = snapshot.blocks
    inside = np.flatnonzero(used & (blocks.segment == row))
    largest = inside[np.argmax(blocks.bytes[inside])]
    address, size = int(snapshot.segments.address[row]), int(snapshot.segments.bytes[row])
    return PinnedSegment(address, size, free_bytes, len(inside), int(blocks.stack[largest]))
