"""Torch's CUDA caching allocator, without a device: the same requests give the same blocks at the same addresses.

The rules are those of c10/cuda/CUDACachingAllocator.cpp (torch 2.3 to 2.13): rounding, a small and a large pool for
each private pool, best fit within a stream, splitting, coalescing, garbage collection, giving segments back and trying
again. Where torch's versions differ the later rule holds. A block that another stream still uses stays in use until
`complete_free`; when that is, is not predicted.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tenure.allocator.settings import MIN_BLOCK, NO_LIMIT, SMALL_SIZE, AllocatorSettings
from tenure.model.allocator import DEFAULT_POOL, PoolId


class Device(Protocol):
    """What gives segments: a simulated device, or what a trace says that the real one gave."""

    def give(self, size: int, stream: int) -> int | None:
        """The address of `size` bytes, or None where there are no more."""

    def take_back(self, address: int, size: int) -> None:
        """A segment is not needed any more."""


class Block:
    """A stretch of a segment. `before` and `after` are its neighbours there; None at an end.

    `requested` is what was asked for, 0 of a free one. `in_use` from the request until the last stream is done with it.
    """

    __slots__ = ("address", "after", "before", "in_use", "pool", "requested", "seen_calls", "size", "stream")

    def __init__(self, address: int, size: int, pool: Pool, stream: int) -> None:
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
    """Free blocks of one size class and private pool, by stream in the order of size, then address."""

    __slots__ = ("by_address", "calls", "free", "is_small", "number")

    def __init__(self, number: PoolId, is_small: bool) -> None:
        self.number = number
        self.is_small = is_small
        self.free: dict[int, list[tuple[int, int]]] = {}
        self.by_address: dict[int, Block] = {}
        self.calls = 0

    def insert(self, block: Block) -> None:
        """A block is free from now on."""
        insort(self.free.setdefault(block.stream, []), (block.size, block.address))
        self.by_address[block.address] = block
        block.seen_calls = self.calls

    def remove(self, block: Block) -> None:
        """A block is free no more, or is about to change its size."""
        free = self.free[block.stream]
        del free[bisect_left(free, (block.size, block.address))]
        del self.by_address[block.address]

    def blocks(self) -> Iterator[Block]:
        """All free blocks in torch's order: by stream, size and address. They may be removed meanwhile."""
        for stream in sorted(self.free):
            for _, address in list(self.free[stream]):
                yield self.by_address[address]


@dataclass
class Counts:
    """Bytes and events so far. `active` counts whole blocks, `requested` what was asked for in them."""

    active_bytes: int = 0
    requested_bytes: int = 0
    reserved_bytes: int = 0
    num_device_allocations: int = 0
    num_device_frees: int = 0
    num_retries: int = 0
    num_out_of_memory: int = 0


class Allocator:
    """One device's allocator. `limit_bytes` is the device's memory, of which the settings' fraction may be reserved."""

    def __init__(self, settings: AllocatorSettings, device: Device, limit_bytes: int | None = None) -> None:
        self.settings = settings
        self.counts = Counts()
        self.in_use: dict[int, Block] = {}
        """Blocks in use, by address."""
        self._device = device
        self._pools: dict[tuple[PoolId, bool], Pool] = {}
        fraction = settings.memory_fraction
        self._limit = None if limit_bytes is None or fraction >= 1 else int(limit_bytes * fraction)

    def allocate(self, asked: int, stream: int = 0, pool_id: PoolId = DEFAULT_POOL) -> Block | None:
        """The block for `asked` bytes (more than 0); None where the device has no more, after all that torch tries."""
        size = self.settings.round_bytes(asked)
        pool = self.pool(pool_id, size <= SMALL_SIZE)
        block = self._best_fit(pool, size, stream) or self._without_fit(pool, size, stream)
        if block is None:
            self.counts.num_out_of_memory += 1
            return None
        if self._is_split(block, size):
            self._split(block, size)
        block.in_use = True
        block.requested = asked
        self.in_use[block.address] = block
        self.counts.active_bytes += block.size
        self.counts.requested_bytes += asked
        return block

    def free(self, address: int) -> Block:
        """The last stream is done with the block at this address; KeyError where none is in use there."""
        block = self.in_use.pop(address)
        self.counts.active_bytes -= block.size
        self.counts.requested_bytes -= block.requested
        block.in_use = False
        block.requested = 0
        self._merge(block)
        block.pool.insert(block)
        return block

    def give_back(self) -> None:
        """What `torch.cuda.empty_cache()` does: every segment that is wholly free goes back to the device."""
        for is_small in (False, True):
            for (_, small), pool in list(self._pools.items()):
                if small == is_small:
                    self._release_whole(pool)

    def pool(self, number: PoolId, is_small: bool) -> Pool:
        """The pool of this private pool and size class, made when it is asked for first."""
        key = (number, is_small)
        found = self._pools.get(key)
        if found is None:
            found = self._pools[key] = Pool(number, is_small)
        return found

    def pools(self) -> list[Pool]:
        """All pools that were asked for."""
        return list(self._pools.values())

    def add_segment(self, address: int, size: int, pool: Pool, stream: int) -> Block:
        """A segment that is there without having been asked for: a free block of all of it."""
        block = Block(address, size, pool, stream)
        self.counts.reserved_bytes += size
        pool.insert(block)
        return block

    def place(self, free: Block, address: int, size: int, requested: int) -> Block:
        """Take the part at `address` of a free block into use, whatever the rules would have taken."""
        free.pool.remove(free)
        if address > free.address:
            rest = self._cut_off(free, address - free.address)
            free.pool.insert(rest)
        if size < free.size:
            part = self._cut_off(free, size)
            free.pool.insert(free)
            free = part
        free.in_use, free.requested = True, requested
        self.in_use[free.address] = free
        self.counts.active_bytes += free.size
        self.counts.requested_bytes += requested
        return free

    def release(self, block: Block) -> None:
        """Give a free block that is a whole segment back to the device."""
        block.pool.remove(block)
        self.counts.reserved_bytes -= block.size
        self.counts.num_device_frees += 1
        self._device.take_back(block.address, block.size)

    def _best_fit(self, pool: Pool, size: int, stream: int) -> Block | None:
        if self.settings.collects:
            pool.calls += 1
        free = pool.free.get(stream)
        if not free:
            return None
        place = bisect_left(free, (size, 0))
        if place == len(free):
            return None
        found, address = free[place]
        largest = self.settings.max_split_bytes
        if largest != NO_LIMIT:
            if size < largest <= found:
                return None
            if size >= largest and found >= size + self.settings.max_non_split_rounding_bytes:
                return None
        del free[place]
        return pool.by_address.pop(address)

    def _without_fit(self, pool: Pool, size: int, stream: int) -> Block | None:
        """No free block is large enough: what torch tries, in its order."""
        if self.settings.collects and self._limit is not None:
            self._collect(self._limit)
        block = self._new_segment(pool, size, stream)
        if block is None and self._release_oversized(pool, size, stream):
            block = self._new_segment(pool, size, stream)
        if block is None:
            self.give_back()
            self.counts.num_retries += 1
            block = self._new_segment(pool, size, stream)
        return block

    def _new_segment(self, pool: Pool, size: int, stream: int) -> Block | None:
        wanted = self.settings.segment_bytes(size)
        if self._limit is not None and self.counts.reserved_bytes + wanted > self._limit:
            return None
        address = self._device.give(wanted, stream)
        if address is None:
            return None
        self.counts.reserved_bytes += wanted
        self.counts.num_device_allocations += 1
        return Block(address, wanted, pool, stream)

    def _is_split(self, block: Block, size: int) -> bool:
        rest = block.size - size
        if block.pool.is_small or self.settings.expandable_segments:
            return rest >= MIN_BLOCK
        return size < self.settings.max_split_bytes and rest > SMALL_SIZE

    def _split(self, block: Block, size: int) -> None:
        """The low part stays the block; the rest is free."""
        rest = Block(block.address + size, block.size - size, block.pool, block.stream)
        rest.before, rest.after = block, block.after
        if rest.after is not None:
            rest.after.before = rest
        block.after = rest
        block.size = size
        block.pool.insert(rest)

    def _cut_off(self, block: Block, size: int) -> Block:
        """The first `size` bytes of a block that stands in no list, as a block of its own; `block` is what follows."""
        first = Block(block.address, size, block.pool, block.stream)
        first.before, first.after = block.before, block
        if first.before is not None:
            first.before.after = first
        block.before = first
        block.address += size
        block.size -= size
        return first

    def _merge(self, block: Block) -> None:
        """Free neighbours become part of the block."""
        before, after = block.before, block.after
        if before is not None and not before.in_use:
            before.pool.remove(before)
            block.address = before.address
            block.size += before.size
            block.before = before.before
            if block.before is not None:
                block.before.after = block
        if after is not None and not after.in_use:
            after.pool.remove(after)
            block.size += after.size
            block.after = after.after
            if block.after is not None:
                block.after.before = block

    def _release_whole(self, pool: Pool) -> None:
        for block in pool.blocks():
            if block.is_whole:
                self.release(block)

    def _release_oversized(self, pool: Pool, size: int, stream: int) -> bool:
        """With a largest size to split: segments above it that are free go back, until what is asked for would fit."""
        largest = self.settings.max_split_bytes
        if largest == NO_LIMIT:
            return False
        wanted = max(size, largest)
        found = [pool.by_address[address] for bytes_, address in pool.free.get(stream, []) if bytes_ >= largest]
        oversized = [block for block in found if block.is_whole]
        enough = next((block for block in oversized if block.size >= wanted), None)
        if enough is not None:
            self.release(enough)
            return True
        freed = 0
        for block in reversed(oversized):
            if freed >= wanted:
                break
            freed += block.size
            self.release(block)
        return freed >= wanted

    def _collect(self, limit: int) -> None:
        """Whole large segments that have not been taken for longest go back, until the threshold is kept."""
        keep = self.settings.garbage_collection_threshold * limit
        target = self.counts.reserved_bytes - keep
        if target <= 0:
            return
        pool = self.pool(DEFAULT_POOL, False)
        whole = [block for block in pool.blocks() if block.is_whole]
        reclaimed = 0
        freed = True
        while reclaimed < target and freed and whole:
            ages = {block.address: pool.calls - block.seen_calls for block in whole}
            oldest = sum(ages.values()) / len(whole)
            going = [block for block in whole if ages[block.address] >= oldest]
            freed = bool(going)
            for block in going:
                reclaimed += block.size
                self.release(block)
            whole = [block for block in whole if ages[block.address] < oldest]
