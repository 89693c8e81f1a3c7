"""Torch's CUDA caching allocator, without a device: the same requests give the same blocks at the same addresses.

The rules are those of c10/cuda/CUDACachingAllocator.cpp (torch 2.3 to 2.13): rounding, a small and a large pool for
each private pool, best fit within a stream, splitting, coalescing, garbage collection, giving segments back and trying
again. Where torch's versions differ the later rule holds. A block that another stream still uses stays in use until
`complete_free`; when that is, is not predicted.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Protocol

from tenure.allocator.blocks import Block, Pool, Range, cut_off, merge
from tenure.allocator.settings import MIN_BLOCK, NO_LIMIT, SMALL_SEGMENT, SMALL_SIZE, AllocatorSettings
from tenure.model.allocator import DEFAULT_POOL, PoolId


class Device(Protocol):
    """What gives segments: a simulated device, or what a trace says that the real one gave."""

    def give(self, size: int, stream: int) -> int | None:
        """The address of `size` bytes, or None where there are no more."""

    def take_back(self, address: int, size: int) -> None:
        """A segment is not needed any more."""

    def reserve(self, page: int, stream: int) -> Range:
        """Addresses for a new expandable segment; no memory yet."""

    def put_behind(self, address: int, size: int) -> bool:
        """Put memory behind these addresses; False where there is no more."""

    def take_from_behind(self, address: int, size: int) -> None:
        """The memory behind these addresses is not needed any more."""


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
        merge(block)
        block.pool.insert(block)
        return block

    def give_back(self, number: PoolId = DEFAULT_POOL) -> None:
        """Every segment of this pool that is wholly free goes back to the device.

        `torch.cuda.empty_cache()` does it to the pool of all, and then to each private one that no graph and no
        `MemPool` uses any more; a `MemPool` that is dropped to its own alone (release_cached_blocks). Of a private pool
        small segments go first, of that of all large ones.
        """
        for is_small in (False, True) if number == DEFAULT_POOL else (True, False):
            self._release_whole(self.pool(number, is_small))

    def collect(self, wanted: float) -> None:
        """Whole large segments that have not been taken for longest go back, until so many bytes have."""
        pool = self.pool(DEFAULT_POOL, False)
        whole = [block for block in pool.blocks() if block.is_whole and block.range is None]
        reclaimed = 0
        freed = True
        while reclaimed < wanted and freed and whole:
            ages = {block.address: pool.calls - block.seen_calls for block in whole}
            oldest = sum(ages.values()) / len(whole)
            going = [block for block in whole if ages[block.address] >= oldest]
            freed = bool(going)
            for block in going:
                reclaimed += block.size
                self.release(block)
            whole = [block for block in whole if ages[block.address] < oldest]

    def release_oversized(self, asked: int, stream: int, number: PoolId = DEFAULT_POOL) -> None:
        """What goes back first where a device is full and there is a largest size to split."""
        size = self.settings.round_bytes(asked)
        self._release_oversized(self.pool(number, size <= SMALL_SIZE), size, stream)

    @property
    def is_limited(self) -> bool:
        """Whether a fraction of the device's memory limits what may be reserved, and how much that is, is known."""
        return self._limit is not None

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

    def add_range(self, of: Range, pool: Pool, stream: int) -> Block:
        """Addresses of an expandable segment without memory."""
        block = Block(of.address, of.size, pool, stream, of)
        block.is_mapped = False
        pool.insert(block)
        return block

    def map(self, block: Block, size: int) -> bool:
        """Put memory behind the first `size` bytes of a stretch that has none, in whole pages; False: there is none.

        The block is free then, and one with its free neighbours.
        """
        assert block.range is not None
        size = min(-(-size // block.range.page) * block.range.page, block.size)
        if not self._device.put_behind(block.address, size):
            return False
        self.map_recorded(block, size)
        self.counts.num_device_allocations += 1
        return True

    def map_recorded(self, block: Block, size: int) -> None:
        """Memory lies behind the first `size` bytes of a stretch that had none, without having been asked for."""
        block.pool.remove(block)
        if size < block.size:
            rest = block
            block = cut_off(rest, size)
            rest.pool.insert(rest)
        block.is_mapped = True
        merge(block)
        block.pool.insert(block)
        self.counts.reserved_bytes += size

    def unmap(self, block: Block, start: int, end: int) -> None:
        """Take the memory from behind the addresses from `start` to `end` of a free block."""
        block.pool.remove(block)
        if block.address < start:
            head = cut_off(block, start - block.address)
            head.pool.insert(head)
        if end < block.address + block.size:
            tail = block
            block = cut_off(tail, end - block.address)
            tail.pool.insert(tail)
        block.is_mapped = False
        merge(block)
        self.counts.reserved_bytes -= end - start
        self.counts.num_device_frees += 1
        self._device.take_from_behind(start, end - start)
        if not block.is_whole:  # where no memory is left the addresses are given up
            block.pool.insert(block)

    def place(self, free: Block, address: int, size: int, requested: int) -> Block:
        """Take the part at `address` of a free block into use, whatever the rules would have taken."""
        free.pool.remove(free)
        if address > free.address:
            rest = cut_off(free, address - free.address)
            free.pool.insert(rest)
        if size < free.size:
            part = cut_off(free, size)
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
        if self.settings.garbage_collection_threshold > 0:
            pool.calls += 1
        free = pool.free.get(stream)
        if not free:
            return None
        place = bisect_left(free, (size, 0))
        if self.settings.expandable_segments:
            place = _least_that_it_could_grow_to(pool, free, place)
        else:  # what was expandable before the setting was taken back is not served from
            while place < len(free) and pool.by_address[free[place][1]].range is not None:
                place += 1
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
            self.collect(self.counts.reserved_bytes - self.settings.garbage_collection_threshold * self._limit)
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
        if self.settings.expandable_segments:
            return self._grown(pool, size, stream)
        address = self._device.give(wanted, stream)
        if address is None:
            return None
        self.counts.reserved_bytes += wanted
        self.counts.num_device_allocations += 1
        return Block(address, wanted, pool, stream)

    def _grown(self, pool: Pool, size: int, stream: int) -> Block | None:
        """A free block of at least `size` bytes that an expandable segment was grown for; it stands in no pool."""
        block = _room_for(pool, size, stream)
        if block is None:
            page = SMALL_SEGMENT if pool.is_small else self.settings.large_segment_bytes
            block = self.add_range(self._device.reserve(page, stream), pool, stream)
        address = block.address
        if not block.is_mapped and not self.map(block, min(block.size, size)):
            return None
        while (block := pool.by_address[address]).size < size:
            rest = block.after
            if rest is None or not self.map(rest, min(size - block.size, rest.size)):
                return None
        pool.remove(block)
        return block

    def _is_split(self, block: Block, size: int) -> bool:
        rest = block.size - size
        if block.pool.is_small or self.settings.expandable_segments:
            return rest >= MIN_BLOCK
        return size < self.settings.max_split_bytes and rest > SMALL_SIZE

    def _split(self, block: Block, size: int) -> None:
        """The low part stays the block; the rest is free."""
        rest = Block(block.address + size, block.size - size, block.pool, block.stream, block.range)
        rest.before, rest.after = block, block.after
        if rest.after is not None:
            rest.after.before = rest
        block.after = rest
        block.size = size
        block.pool.insert(rest)

    def _release_whole(self, pool: Pool) -> None:
        growing = []
        for block in pool.blocks():
            if block.range is not None:
                growing.append(block)
            elif block.is_whole:
                self.release(block)
        for block in growing:
            self._unmap_whole_pages(block)

    def _unmap_whole_pages(self, block: Block) -> None:
        assert block.range is not None
        base, page = block.range.address, block.range.page
        start = base + -(-(block.address - base) // page) * page
        end = base + (block.address + block.size - base) // page * page
        if start < end:
            self.unmap(block, start, end)

    def _release_oversized(self, pool: Pool, size: int, stream: int) -> bool:
        """With a largest size to split: segments above it that are free go back, until what is asked for would fit."""
        largest = self.settings.max_split_bytes
        if largest == NO_LIMIT:
            return False
        wanted = max(size, largest)
        found = [pool.by_address[address] for bytes_, address in pool.free.get(stream, []) if bytes_ >= largest]
        oversized = [block for block in found if block.is_whole and block.range is None]
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


def _least_that_it_could_grow_to(pool: Pool, free: list[tuple[int, int]], place: int) -> int:
    """Best fit with expandable segments goes by the size that a block could grow to: those at ends are taken last."""
    while place + 1 < len(free):
        block, following = pool.by_address[free[place][1]], pool.by_address[free[place + 1][1]]
        if block.range is None or _could_grow_to(following) >= _could_grow_to(block):
            break
        place += 1
    return place


def _could_grow_to(block: Block) -> int:
    after = block.after
    return block.size + (0 if after is None or after.is_mapped else after.size)


def _room_for(pool: Pool, size: int, stream: int) -> Block | None:
    """The first stretch of an expandable segment, free or without memory, that `size` bytes fit into."""
    for address in pool.unmapped.get(stream, ()):
        start = pool.unmapped_by_address[address]
        if start.before is not None and not start.before.in_use:
            start = start.before
        room = 0
        block: Block | None = start
        while room < size and block is not None and not block.in_use:
            room += block.size
            block = block.after
        if room >= size:
            return start
    return None
