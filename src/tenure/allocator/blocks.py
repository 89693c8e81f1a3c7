"""Blocks, the memory that they are stretches of, and the pools in which free ones wait."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.model.allocator import PoolId


@dataclass(frozen=True)
class Range:
    """Addresses that were reserved for an expandable segment; memory is put behind them page by page."""

    address: int
    size: int
    page: int


class Block:
    """A stretch of a segment. `before` and `after` are its neighbours there; None at an end.

    `requested` is what was asked for, 0 of a free one. `in_use` from the request until the last stream is done with it.
    `range` of a block in an expandable segment; there `is_mapped` tells whether memory is behind its addresses.
    """

    __slots__ = (
        "address",
        "after",
        "before",
        "in_use",
        "is_mapped",
        "pool",
        "range",
        "requested",
        "seen_calls",
        "size",
        "stream",
    )

    def __init__(self, address: int, size: int, pool: Pool, stream: int, of: Range | None = None) -> None:
        self.range = of
        self.is_mapped = True
        self.address = address
        self.size = size
        self.pool = pool
        self.stream = stream
        self.requested = 0
        self.in_use = False
        self.before: Block | None = None
        self.after: Block | None = None
        self.seen_calls = 0

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its segment."""
        return self.before is None and self.after is None


class Pool:
    """Free blocks of one size class and private pool, by stream in the order of size, then address.

    `unmapped` are the stretches without memory of expandable segments, by stream in the order of their addresses.
    """

    __slots__ = ("by_address", "calls", "free", "is_small", "number", "unmapped", "unmapped_by_address")

    def __init__(self, number: PoolId, is_small: bool) -> None:
        self.number = number
        self.is_small = is_small
        self.free: dict[int, list[tuple[int, int]]] = {}
        self.by_address: dict[int, Block] = {}
        self.unmapped: dict[int, list[int]] = {}
        self.unmapped_by_address: dict[int, Block] = {}
        self.calls = 0

    def insert(self, block: Block) -> None:
        """A block is free from now on, or a stretch without memory."""
        if not block.is_mapped:
            insort(self.unmapped.setdefault(block.stream, []), block.address)
            self.unmapped_by_address[block.address] = block
            return
        insort(self.free.setdefault(block.stream, []), (block.size, block.address))
        self.by_address[block.address] = block
        block.seen_calls = self.calls

    def remove(self, block: Block) -> None:
        """A block is free no more, or is about to change its size."""
        if not block.is_mapped:
            addresses = self.unmapped[block.stream]
            del addresses[bisect_left(addresses, block.address)]
            del self.unmapped_by_address[block.address]
            return
        free = self.free[block.stream]
        del free[bisect_left(free, (block.size, block.address))]
        del self.by_address[block.address]

    def blocks(self) -> Iterator[Block]:
        """All free blocks in torch's order: by stream, size and address. They may be removed meanwhile."""
        for stream in sorted(self.free):
            for _, address in list(self.free[stream]):
                yield self.by_address[address]


def cut_off(block: Block, size: int) -> Block:
    """The first `size` bytes of a block, as a block before it; neither stands in a pool afterwards."""
    first = Block(block.address, size, block.pool, block.stream, block.range)
    first.is_mapped = block.is_mapped
    first.before, first.after = block.before, block
    if first.before is not None:
        first.before.after = first
    block.before = first
    block.address += size
    block.size -= size
    return first


def merge(block: Block) -> None:
    """Free neighbours become part of a block that stands in no pool."""
    before, after = block.before, block.after
    if before is not None and not before.in_use and before.is_mapped == block.is_mapped:
        before.pool.remove(before)
        block.address = before.address
        block.size += before.size
        block.before = before.before
        if block.before is not None:
            block.before.after = block
    if after is not None and not after.in_use and after.is_mapped == block.is_mapped:
        after.pool.remove(after)
        block.size += after.size
        block.after = after.after
        if block.after is not None:
            block.after.before = block
