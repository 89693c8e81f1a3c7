"""What torch's allocator tells of itself: its segments and blocks at one moment, and the events before it.

Rows are columns of numbers (numpy arrays), for a snapshot may have millions of them. Addresses and sizes are in bytes.
The words are torch's own (`torch.cuda.memory._snapshot`, torch/csrc/cuda/memory_snapshot.cpp).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tenure.model.heap import Ints


class Action(IntEnum):
    """What an event of a trace says. OTHER: an action of a later torch that is not known here."""

    OTHER = 0
    ALLOC = 1
    FREE_REQUESTED = 2
    FREE_COMPLETED = 3
    SEGMENT_ALLOC = 4
    SEGMENT_FREE = 5
    SEGMENT_MAP = 6
    SEGMENT_UNMAP = 7
    SNAPSHOT = 8
    OOM = 9


class BlockState(IntEnum):
    """Whether a block is in use. PENDING_FREE: freed by the program, still waited for by another stream."""

    INACTIVE = 0
    ALLOCATED = 1
    PENDING_FREE = 2


NO_STACK = -1
LARGEST_WORKSPACE_BYTES = 33 << 20
"""Of a thread that multiplies, from this allocator: cuBLAS's since compute capability 9, 32 MiB
(aten/src/ATen/cuda/CublasHandlePool.cpp), and cuBLASLt's where a bias is added, 1 MiB, as measured on an H200 with
torch 2.11."""
NO_TIME = -1
PoolId = tuple[int, int]
DEFAULT_POOL: PoolId = (0, 0)


@dataclass(frozen=True)
class Events:
    """The events of one device, oldest first; a row each.

    `bytes` of ALLOC and FREE_* are what was asked for, of SEGMENT_* what the device gave. `address` of OOM is the
    device's free bytes. `stack` is an index into the snapshot's `stacks`, `pool` one into its `pools`, `label` one into
    its `labels`: what the program called it (`torch.cuda.memory._set_memory_metadata`); -1: not told.
    """

    action: Ints
    address: Ints
    bytes: Ints
    stream: Ints
    time_us: Ints
    stack: Ints
    pool: Ints
    label: Ints

    def __len__(self) -> int:
        return len(self.action)


@dataclass(frozen=True)
class Segments:
    """Memory that the device has given to the allocator; a row each, ordered by device and address."""

    device: Ints
    address: Ints
    bytes: Ints
    stream: Ints
    is_small: Ints
    is_expandable: Ints
    pool: Ints

    def __len__(self) -> int:
        return len(self.address)


@dataclass(frozen=True)
class Blocks:
    """The blocks of all segments, ordered as these are; `requested` is what the program asked for of `bytes`.

    `state` is a `BlockState`, `segment` an index into the segments.
    """

    segment: Ints
    address: Ints
    bytes: Ints
    requested: Ints
    state: Ints
    stack: Ints

    def __len__(self) -> int:
        return len(self.address)


@dataclass(frozen=True)
class Frame:
    """One line of a stack."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Annotation:
    """The beginning or end of a named stretch of time, as `Optimizer.step#AdamW.step`."""

    name: str
    is_start: bool
    device: int
    time_us: int


@dataclass(frozen=True)
class Snapshot:
    """One torch memory snapshot, of all devices.

    `traces` has the events by device; `stacks` are tuples of indices into `frames`, innermost first. `settings` are the
    allocator's as the snapshot tells them, None where it is older than torch 2.3. `unknown_actions` counts what a
    later torch has written and this version leaves out.
    """

    segments: Segments
    blocks: Blocks
    traces: Mapping[int, Events]
    stacks: tuple[tuple[int, ...], ...] = ()
    frames: tuple[Frame, ...] = ()
    pools: tuple[PoolId, ...] = (DEFAULT_POOL,)
    labels: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    settings: Mapping[str, Any] | None = None
    unknown_actions: Mapping[str, int] = field(default_factory=dict)

    @property
    def devices(self) -> tuple[int, ...]:
        """Devices that have segments or events."""
        return tuple(sorted({*map(int, set(self.segments.device)), *(d for d, e in self.traces.items() if len(e))}))
