"""What holds of every allocator after any program: no overlap, no byte lost, neighbours merged."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from allocator.recorded import Program
from tenure.allocator.blocks import Block
from tenure.allocator.settings import MIB, AllocatorSettings
from tenure.allocator.simulated_device import SimulatedDevice
from tenure.allocator.simulator import Allocator

settings = st.builds(
    AllocatorSettings,
    max_split_bytes=st.sampled_from([20 * MIB, 64 * MIB, (1 << 63) - 1]),
    roundup_power2_divisions=st.sampled_from([(0,) * 16, (1,) * 16, (4,) * 16, (16,) * 16]),
    garbage_collection_threshold=st.sampled_from([0.0, 0.3, 0.9]),
    large_segment_bytes=st.sampled_from([20 * MIB, 64 * MIB]),
    memory_fraction=st.sampled_from([0.4, 1.0]),
    expandable_segments=st.booleans(),
)


def all_blocks(allocator: Allocator) -> list[Block]:
    free = [block for pool in allocator.pools() for block in pool.by_address.values()]
    return sorted((*free, *allocator.in_use.values()), key=lambda block: block.address)


@given(settings=settings, seed=st.integers(0, 10_000), total=st.sampled_from([None, 200 * MIB]))
def test_blocks_do_not_overlap_no_byte_is_lost_and_free_neighbours_are_one(
    settings: AllocatorSettings, seed: int, total: int | None
) -> None:
    program = Program(settings, total)
    program.run(seed)
    allocator = program.allocator
    blocks = all_blocks(allocator)
    counts = allocator.counts

    assert all(one.address + one.size <= two.address for one, two in itertools.pairwise(blocks))
    assert sum(block.size for block in blocks) == counts.reserved_bytes
    assert sum(block.size for block in blocks if block.in_use) == counts.active_bytes <= counts.reserved_bytes
    assert sum(block.requested for block in blocks) == counts.requested_bytes <= counts.active_bytes
    free = [block for block in blocks if not block.in_use and block.after and not block.after.in_use]
    assert not [block for block in free if block.after and block.after.is_mapped]
    assert all(block.after.before is block for block in blocks if block.after)


@given(seed=st.integers(0, 10_000), expandable=st.booleans())
def test_everything_comes_back_when_everything_is_freed(seed: int, expandable: bool) -> None:
    program = Program(AllocatorSettings(expandable_segments=expandable))
    program.run(seed)
    for block in list(program.allocator.in_use.values()):
        program.free(block)
    program.allocator.give_back()

    assert all_blocks(program.allocator) == []
    assert (program.allocator.counts.reserved_bytes, program.allocator.counts.active_bytes) == (0, 0)


def test_the_smallest_block_that_fits_is_taken_the_lowest_of_equals() -> None:
    allocator = Allocator(AllocatorSettings(), SimulatedDevice())
    blocks = [allocator.allocate(size * MIB) for size in (12, 34, 12, 36)]
    for block in blocks:
        assert block is not None
        allocator.free(block.address)

    again = allocator.allocate(12 * MIB)

    assert again is not None
    assert again.address == min(block.address for block in (blocks[0], blocks[2]) if block is not None)


def test_a_block_of_another_stream_is_not_taken() -> None:
    allocator = Allocator(AllocatorSettings(), SimulatedDevice())
    first = allocator.allocate(12 * MIB, stream=0)
    assert first is not None
    allocator.free(first.address)

    other = allocator.allocate(12 * MIB, stream=7)

    assert other is not None
    assert other.address != first.address
    assert allocator.counts.reserved_bytes == 24 * MIB


def test_a_full_device_gives_what_is_free_back_and_is_asked_again() -> None:
    allocator = Allocator(AllocatorSettings(), SimulatedDevice(40 * MIB))
    first = allocator.allocate(30 * MIB)
    assert first is not None
    allocator.free(first.address)

    second = allocator.allocate(36 * MIB)

    assert second is not None
    assert (allocator.counts.num_retries, allocator.counts.num_device_frees) == (1, 1)
    assert allocator.allocate(10 * MIB) is None
    assert allocator.counts.num_out_of_memory == 1


def test_a_fraction_limits_what_is_reserved() -> None:
    allocator = Allocator(AllocatorSettings(memory_fraction=0.5), SimulatedDevice(), limit_bytes=40 * MIB)

    assert allocator.allocate(20 * MIB) is not None
    assert allocator.allocate(2 * MIB) is None


def test_beyond_the_threshold_the_segments_unused_for_longest_go_back() -> None:
    threshold = AllocatorSettings(garbage_collection_threshold=0.5, memory_fraction=0.9)
    allocator = Allocator(threshold, SimulatedDevice(), limit_bytes=100 * MIB)
    old, new = allocator.allocate(20 * MIB), allocator.allocate(24 * MIB)
    assert old is not None
    assert new is not None
    allocator.free(old.address)
    for _ in range(5):
        allocator.free(allocator.allocate(2 * MIB + 512, stream=1).address)  # type: ignore[union-attr]
    allocator.free(new.address)

    allocator.allocate(30 * MIB)

    left = [(block.size, block.in_use) for block in all_blocks(allocator) if block.is_whole]
    assert sorted(left) == [(20 * MIB, False), (24 * MIB, False), (30 * MIB, True)]


def test_an_expandable_segment_grows_by_pages_and_its_free_pages_go_back() -> None:
    allocator = Allocator(AllocatorSettings(expandable_segments=True), SimulatedDevice())
    first, second = allocator.allocate(15 * MIB), allocator.allocate(15 * MIB)
    assert first is not None
    assert second is not None

    grown = (second.address - first.address, allocator.counts.reserved_bytes, allocator.counts.num_device_allocations)
    allocator.free(first.address)
    allocator.give_back()

    assert grown == (15 * MIB, 40 * MIB, 2)
    assert allocator.counts.reserved_bytes == 40 * MIB  # the second block lies in both pages
    allocator.free(second.address)
    allocator.give_back()
    assert allocator.counts.reserved_bytes == 0


def test_the_block_that_could_grow_least_is_taken_from_an_expandable_segment() -> None:
    allocator = Allocator(AllocatorSettings(expandable_segments=True), SimulatedDevice())
    hole, wall, end = (allocator.allocate(size * MIB) for size in (12, 2, 6))
    assert hole is not None
    assert wall is not None
    assert end is not None
    allocator.free(end.address)
    allocator.free(hole.address)

    taken = allocator.allocate(5 * MIB)

    assert taken is not None
    assert taken.address == hole.address  # the end has 6 MiB free too, and could grow
