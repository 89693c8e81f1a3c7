"""A replay under the recorded settings gives every allocation its recorded address and every segment its size."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from allocator.recorded import Program
from tenure.allocator.replay import Difference, Peak, allocator_after, recorded_blocks, replay_snapshot
from tenure.allocator.settings import MIB, AllocatorSettings
from tenure.model.allocator import DEFAULT_POOL, Action, Snapshot
from tenure.store.torch_snapshot import read_snapshot, snapshot_from_bytes

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "snapshots"
"""Snapshots that other people's programs have recorded; not part of the project."""
SETTINGS = [
    AllocatorSettings(),
    AllocatorSettings(max_split_bytes=20 * MIB),
    AllocatorSettings(roundup_power2_divisions=(8,) * 16),
    AllocatorSettings(expandable_segments=True),
]


def read(program: Program, keep_last: int | None = None) -> Snapshot:
    return snapshot_from_bytes(program.pickled(keep_last), "made")


@pytest.mark.parametrize("settings", SETTINGS)
@given(seed=st.integers(0, 10_000))
def test_a_whole_trace_comes_out_as_recorded(settings: AllocatorSettings, seed: int) -> None:
    program = Program(settings)
    program.run(seed)

    replay = replay_snapshot(read(program), 0)

    assert (replay.num_allocations_equal, replay.num_segments_equal) == (replay.num_allocations, replay.num_segments)
    assert (replay.first_difference, replay.blocks_equal, replay.is_whole) == (None, True, True)
    assert replay.earlier.blocks == replay.earlier.segments == ()


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_the_end_of_a_trace_comes_out_as_recorded_from_the_state_found_before_it(seed: int, share: float) -> None:
    program = Program()
    program.run(seed, largest=MIB)  # of the small pool every size is known
    kept = int(len(program.events) * share)

    replay = replay_snapshot(read(program, kept), 0)

    assert (replay.num_allocations_equal, replay.num_segments_equal) == (replay.num_allocations, replay.num_segments)
    assert (replay.first_difference, replay.blocks_equal) == (None, True)
    assert replay.earlier.num_inconsistent == 0


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_the_end_of_a_trace_with_expandable_segments_comes_out_as_recorded(seed: int, share: float) -> None:
    program = Program(AllocatorSettings(expandable_segments=True))
    program.run(seed)

    replay = replay_snapshot(read(program, int(len(program.events) * share)), 0)

    assert (replay.num_allocations_equal, replay.num_segments_equal) == (replay.num_allocations, replay.num_segments)
    assert (replay.first_difference, replay.blocks_equal) == (None, True)


def test_pages_below_those_that_an_expandable_segment_had_at_first_belong_to_it() -> None:
    program = Program(AllocatorSettings(expandable_segments=True))
    low, high = program.allocate(20 * MIB), program.allocate(20 * MIB)
    assert low is not None
    assert high is not None
    program.free(low)
    program.allocator.give_back()
    program.allocate(15 * MIB)
    kept = [event["action"] for event in program.events[-2:]]

    replay = replay_snapshot(read(program, 2), 0)

    assert kept == ["segment_map", "alloc"]
    assert replay.is_equal


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
@example(seed=277, share=0.25)
def test_where_it_leaves_a_cut_off_trace_the_state_before_it_was_guessed(seed: int, share: float) -> None:
    program = Program()
    program.run(seed)

    replay = replay_snapshot(read(program, int(len(program.events) * share)), 0)

    assert replay.is_equal or replay.earlier.num_guessed > 0
    assert replay.earlier.num_inconsistent == 0


def test_the_peaks_are_those_of_the_program() -> None:
    program = Program()
    first, second = program.allocate(30 * MIB), program.allocate(3 * MIB)
    assert first is not None
    assert second is not None
    program.free(first)
    program.allocate(MIB)

    replay = replay_snapshot(read(program), 0)

    assert [event["action"] for event in program.events] == [
        "segment_alloc",
        "alloc",
        "segment_alloc",
        "alloc",
        "free_requested",
        "free_completed",
        "segment_alloc",
        "alloc",
    ]
    assert (replay.active, replay.reserved) == (Peak(33 * MIB, 3), Peak(52 * MIB, 7))


def test_an_address_that_was_not_predicted_is_told_and_taken_from_the_record() -> None:
    program = Program()
    first = program.allocate(4 * MIB)
    second = program.allocate(4 * MIB)
    assert first is not None
    assert second is not None
    told = program.snapshot()
    moved = first.address + 12 * MIB
    told["device_traces"][0][2]["addr"] = moved
    blocks = told["segments"][0]["blocks"]
    blocks[1:] = [
        {**blocks[2], "address": first.address + 4 * MIB, "size": 8 * MIB},
        {**blocks[1], "address": moved},
        {**blocks[2], "address": moved + 4 * MIB, "size": 4 * MIB},
    ]

    replay = replay_snapshot(snapshot_from_bytes(pickle.dumps(told), "made"), 0)

    text = f"4,194,304 bytes went to {moved:#x}; {second.address:#x} was predicted"
    assert replay.first_difference == Difference(2, text)
    assert (replay.num_allocations, replay.num_allocations_equal) == (2, 1)
    assert (replay.is_whole, replay.blocks_equal, replay.is_equal) == (True, True, False)


def test_a_segment_that_nobody_needs_is_told() -> None:
    program = Program()
    program.allocate(4 * MIB)
    program.note("segment_alloc", 1 << 40, 20 * MIB, 0)
    program.allocate(MIB // 2)

    replay = replay_snapshot(read(program), 0)

    assert replay.first_difference == Difference(
        2, "a segment of 20,971,520 bytes was recorded, and none of that size is needed"
    )
    assert (replay.num_segments, replay.num_segments_equal) == (3, 2)


def test_memory_that_is_given_twice_ends_the_replay() -> None:
    program = Program()
    first = program.allocate(4 * MIB)
    assert first is not None
    told = program.snapshot()
    again = dict(told["device_traces"][0][0])
    told["device_traces"][0] += [{**again, "addr": again["addr"] + 512}]
    inside = snapshot_from_bytes(pickle.dumps(told), "made")

    replay = replay_snapshot(inside, 0)

    text = f"20,971,520 bytes at {first.address + 512:#x} are given, and some are there already"
    assert replay.first_difference == Difference(2, text)
    assert (replay.num_events, replay.is_whole, replay.blocks_equal) == (3, False, False)


def test_memory_that_was_there_twice_before_the_trace_ends_the_replay_at_once() -> None:
    program = Program()
    first = program.allocate(4 * MIB)
    assert first is not None
    program.note("segment_free", first.address + 512, 20 * MIB, 0)
    told = program.snapshot()
    del told["device_traces"][0][:2]

    replay = replay_snapshot(snapshot_from_bytes(pickle.dumps(told), "made"), 0)

    assert replay.first_difference == Difference(0, "before it there was memory at one address twice")
    assert (replay.num_events, replay.is_whole) == (1, False)


def test_a_trace_that_is_no_allocators_is_not_played_to_its_end() -> None:
    program = Program()
    program.allocate(4 * MIB)
    program.note("segment_free", program.events[0]["addr"], 20 * MIB, 0)

    replay = replay_snapshot(read(program), 0)

    assert (replay.is_whole, replay.blocks_equal) == (False, False)
    assert replay.first_difference is not None


def test_a_snapshot_without_a_trace_is_laid_out_as_it_is() -> None:
    program = Program()
    program.run(3)
    snapshot = read(program, 0)

    replay = replay_snapshot(snapshot, 0)

    in_use = sum(size for _, size, used in recorded_blocks(snapshot, 0) if used)
    assert (replay.num_events, replay.is_equal, replay.active) == (0, True, Peak(in_use, -1))


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published snapshots are not here")
def test_published_traces_come_out_as_recorded() -> None:
    told = {}
    for path in sorted(PUBLISHED.glob("*.pickle")):
        if path.name.startswith("mosaic"):  # random numbers, no allocator's
            continue
        replay = replay_snapshot(read_snapshot(path), 0)
        allocations = (replay.num_allocations, replay.num_allocations_equal)
        told[path.name] = (allocations, (replay.num_segments, replay.num_segments_equal), replay.is_equal)

    assert told == {name: ((a, a), (s, s), True) for name, ((a, _), (s, _), _) in told.items()}
    assert sum(allocations[0] for allocations, _, _ in told.values()) > 0


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published snapshots are not here")
def test_published_traces_give_back_what_torchs_rule_gives_back_in_its_order() -> None:
    num_segments = 0
    for path in sorted(PUBLISHED.glob("*.pickle")):
        snapshot = read_snapshot(path)
        events = snapshot.traces.get(0)
        gone = [] if events is None else np.flatnonzero(events.action == Action.SEGMENT_FREE).tolist()
        if events is None or not gone or path.name.startswith("mosaic"):
            continue
        allocator = allocator_after(snapshot, 0, gone[0] - 1)
        assert allocator is not None
        free = [block for is_small in (False, True) for block in allocator.pool(DEFAULT_POOL, is_small).blocks()]
        assert [block.address for block in free if block.is_whole] == events.address[gone].tolist(), path.name
        assert gone == list(range(gone[0], gone[-1] + 1)), path.name  # one call of empty_cache in each
        num_segments += len(gone)
    assert num_segments > 0
