"""Traces as torch would record them, made by the simulated allocator itself: small programs, whole or cut off."""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass, field
from typing import Any

from tenure.allocator.blocks import Block
from tenure.allocator.settings import AllocatorSettings
from tenure.allocator.simulated_device import SimulatedDevice
from tenure.allocator.simulator import Allocator

FRAMES = [{"name": "forward", "filename": "train.py", "line": 12}]


class _Listening(SimulatedDevice):
    def __init__(self, program: Program, total_bytes: int | None) -> None:
        super().__init__(total_bytes)
        self._program = program

    def give(self, size: int, stream: int) -> int | None:
        address = super().give(size, stream)
        if address is not None:
            self._program.note("segment_alloc", address, size, stream)
        return address

    def take_back(self, address: int, size: int) -> None:
        super().take_back(address, size)
        self._program.note("segment_free", address, size, 0)

    def put_behind(self, address: int, size: int) -> bool:
        given = super().put_behind(address, size)
        if given:
            self._program.note("segment_map", address, size, 0)
        return given

    def take_from_behind(self, address: int, size: int) -> None:
        super().take_from_behind(address, size)
        self._program.note("segment_unmap", address, size, 0)


@dataclass
class Program:
    """A program that allocates and frees, and what torch would have recorded of it."""

    settings: AllocatorSettings = field(default_factory=AllocatorSettings)
    total_bytes: int | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=lambda: FRAMES)
    """Those of what comes next, innermost first."""

    def __post_init__(self) -> None:
        self.frames_at: dict[int, list[dict[str, Any]]] = {}
        self.allocator = Allocator(self.settings, _Listening(self, self.total_bytes))

    def note(self, action: str, address: int, size: int, stream: int) -> None:
        time = 1_700_000_000_000_000 + len(self.events)
        told = {
            "action": action,
            "addr": address,
            "size": size,
            "stream": stream,
            "time_us": time,
            "frames": self.frames,
        }
        self.events.append(told)

    def allocate(self, size: int, stream: int = 0) -> Block | None:
        block = self.allocator.allocate(size, stream)
        if block is not None:
            self.note("alloc", block.address, size, stream)
            self.frames_at[block.address] = self.frames
        else:
            assert self.total_bytes is not None
            self.note("oom", self.total_bytes - self.allocator.counts.reserved_bytes, size, stream)
        return block

    def free(self, block: Block) -> None:
        self.note("free_requested", block.address, block.requested, block.stream)
        self.note("free_completed", block.address, block.requested, block.stream)
        self.allocator.free(block.address)

    def run(self, seed: int, steps: int = 200, largest: int = 40 << 20) -> None:
        """Allocate and free at random, sizes from bytes to `largest`, now and then `empty_cache()`."""
        chance = random.Random(seed)
        held: list[Block] = []
        for _ in range(steps):
            wants = chance.random()
            if held and wants < 0.45:
                self.free(held.pop(chance.randrange(len(held))))
            elif wants < 0.98:
                block = self.allocate(int(2 ** chance.uniform(3, largest.bit_length() - 1)))
                held += [block] if block is not None else []
            else:
                self.allocator.give_back()

    def snapshot(self, keep_last: int | None = None) -> dict[str, Any]:
        """What `torch.cuda.memory._snapshot()` would give; `keep_last` events, as a full ring buffer has them."""
        events = self.events if keep_last is None else self.events[len(self.events) - keep_last :]
        return {
            "segments": [_segment(blocks, self.frames_at) for blocks in _segments(self.allocator)],
            "device_traces": [events],
            "allocator_settings": _told(self.settings),
            "external_annotations": self.annotations,
        }

    def pickled(self, keep_last: int | None = None, protocol: int = 4) -> bytes:
        return pickle.dumps(self.snapshot(keep_last), protocol)


def _segments(allocator: Allocator) -> list[list[Block]]:
    """The blocks of each segment; of an expandable one those of each run of memory."""
    free = [block for pool in allocator.pools() for block in pool.by_address.values()]
    blocks = sorted((*free, *allocator.in_use.values()), key=lambda block: block.address)
    found: list[list[Block]] = []
    for block in blocks:
        if block.before is not None and block.before.is_mapped:
            found[-1].append(block)
        else:
            found.append([block])
    return found


def _segment(blocks: list[Block], frames_at: dict[int, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "device": 0,
        "address": blocks[0].address,
        "total_size": sum(block.size for block in blocks),
        "stream": blocks[0].stream,
        "segment_type": "small" if blocks[0].pool.is_small else "large",
        "segment_pool_id": blocks[0].pool.number,
        "is_expandable": blocks[0].range is not None,
        "blocks": [
            {
                "address": block.address,
                "size": block.size,
                "requested_size": block.requested,
                "state": "active_allocated" if block.in_use else "inactive",
                "frames": frames_at.get(block.address, []) if block.in_use else [],
            }
            for block in blocks
        ],
    }


def _told(settings: AllocatorSettings) -> dict[str, Any]:
    return {
        "PYTORCH_CUDA_ALLOC_CONF": "",
        "max_split_size": -1
        if settings.max_split_bytes == AllocatorSettings().max_split_bytes
        else settings.max_split_bytes,
        "garbage_collection_threshold": settings.garbage_collection_threshold,
        "expandable_segments": settings.expandable_segments,
        "roundup_power2_divisions": {str(1 << n): p for n, p in enumerate(settings.roundup_power2_divisions)},
    }
