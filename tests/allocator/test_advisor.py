"""Advice is the setting under which the same requests reserve less, and none where nothing is to be gained."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.recorded import Program
from tenure.allocator.advisor import CANDIDATES, advise, conflict_in, requests_of
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB, AllocatorSettings, parse_settings
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes


def read(program: Program, keep_last: int | None = None) -> Snapshot:
    return snapshot_from_bytes(program.pickled(keep_last), "made")


def growing_batches() -> Program:
    """Each step's buffer is a little larger than the one before: no old segment ever fits again."""
    program = Program()
    for step in range(12):
        block = program.allocate((20 + 2 * step) * MIB)
        assert block is not None
        program.free(block)
    return program


def test_growing_batches_are_advised_expandable_segments() -> None:
    advice = advise(read(growing_batches()), 0)

    assert advice.floor_bytes == 42 * MIB
    assert advice.recorded.peak_reserved_bytes == sum(20 + 2 * step for step in range(12)) * MIB
    assert advice.best is not None
    assert (advice.best.settings, advice.best.peak_reserved_bytes) == ("expandable_segments:True", 60 * MIB)
    confirmed = {each.settings for each in (advice.recorded, *advice.candidates) if each.is_confirmed}
    assert confirmed == {"", "expandable_segments:True"}  # traces that torch recorded came out as recorded


def test_where_all_of_it_is_in_use_nothing_is_advised() -> None:
    program = Program()
    for _ in range(10):
        program.allocate(20 * MIB)

    advice = advise(read(program), 0)

    assert (advice.floor_bytes, advice.recorded.peak_reserved_bytes, advice.best) == (200 * MIB, 200 * MIB, None)
    assert len(advice.candidates) == len(CANDIDATES) - 1  # the recorded settings are not tried again


@given(seed=st.integers(0, 10_000))
def test_what_is_predicted_for_the_recorded_settings_is_what_was_recorded(seed: int) -> None:
    program = Program()
    program.run(seed)
    snapshot = read(program)

    advice, replay = advise(snapshot, 0, [""]), replay_snapshot(snapshot, 0)

    assert advice.recorded.peak_reserved_bytes == replay.reserved.bytes
    assert advice.recorded.peak_active_bytes == replay.active.bytes
    assert advice.recorded.num_device_allocations == replay.num_segments
    assert advice.candidates == ()


@given(seed=st.integers(0, 10_000))
def test_no_settings_reserve_less_than_the_floor(seed: int) -> None:
    program = Program()
    program.run(seed, steps=100)

    advice = advise(read(program), 0)

    assert min(each.peak_reserved_bytes for each in advice.candidates) >= advice.floor_bytes


def test_what_was_there_before_the_trace_is_asked_for_first() -> None:
    program = Program()
    first, second = program.allocate(30 * MIB), program.allocate(3 * MIB)
    assert first is not None
    assert second is not None
    program.free(first)
    program.allocate(MIB)

    requests = requests_of(read(program, 4), 0, AllocatorSettings())

    kinds = [(kind, size) for kind, size in zip(requests.kind.tolist(), requests.bytes.tolist(), strict=True)]
    assert requests.num_earlier == 2
    assert kinds == [(0, 30 * MIB), (0, 3 * MIB), (1, 0), (0, MIB)]


def test_a_call_of_empty_cache_is_played_where_it_was() -> None:
    program = Program()
    for size in (30, 40):
        block = program.allocate(size * MIB)
        assert block is not None
        program.free(block)
        program.allocator.give_back()
    told = pickle.dumps(program.snapshot())

    advice = advise(snapshot_from_bytes(told, "made"), 0, ["max_split_size_mb:64"])

    assert advice.recorded.peak_reserved_bytes == 40 * MIB


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("garbage_collection_threshold:0.8", "garbage_collection_threshold does nothing without"),
        ("garbage_collection_threshold:0.8,per_process_memory_fraction:0.9", ""),
        ("max_split_size_mb:64,expandable_segments:True", "max_split_size_mb with expandable_segments lets"),
        ("expandable_segments:True", ""),
    ],
)
def test_settings_that_do_nothing_or_harm_each_other_are_told(text: str, expected: str) -> None:
    conflict = conflict_in(parse_settings(text))

    assert conflict.startswith(expected)
    assert bool(conflict) == bool(expected)


def test_nothing_that_is_tried_is_in_conflict() -> None:
    assert [text for text in CANDIDATES if conflict_in(parse_settings(text))] == []
