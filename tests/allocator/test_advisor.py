"""Advice is the setting under which the same requests reserve less, and none where nothing is to be gained."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.recorded import Program
from tenure.allocator.advisor import (
    CANDIDATES,
    WITH_MEMORY,
    Advice,
    advise,
    advise_together,
    comes_to,
    conflict_in,
    requests_of,
)
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
    together = {each for each in CANDIDATES if each.startswith(("expandable_segments:True,", "max_split_size_mb"))}
    together = {each for each in together if "," in each}  # no trace was recorded under these at once
    assert confirmed == {"", *CANDIDATES} - together


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


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("", "roundup_power2_divisions:1", True),
        ("", "garbage_collection_threshold:0.8", True),
        ("", "max_non_split_rounding_mb:64", True),
        ("", "pinned_num_register_threads:4", True),
        ("", "expandable_segments:False", True),
        ("", "expandable_segments:True", False),
        ("max_split_size_mb:64", "max_split_size_mb:64,max_non_split_rounding_mb:64", False),
        ("", "roundup_power2_divisions:[64:2]", False),
    ],
)
def test_settings_that_place_every_block_alike(text: str, other: str, expected: bool) -> None:
    assert comes_to(parse_settings(text), parse_settings(other)) is expected


def test_no_two_that_are_tried_place_every_block_alike() -> None:
    tried = [parse_settings(text) for text in (*CANDIDATES, *WITH_MEMORY)]

    assert [(one, two) for place, one in enumerate(tried) for two in tried[:place] if comes_to(one, two)] == []
    assert (len(CANDIDATES), len(WITH_MEMORY)) == (24, 3)


def advised(advice: Advice) -> str | None:
    return None if advice.best is None else advice.best.settings


def test_where_the_devices_memory_is_known_retries_and_refusals_are_counted() -> None:
    snapshot = read(growing_batches())

    enough, scarce, little = (advise(snapshot, 0, total_bytes=size * MIB) for size in (1000, 70, 45))

    counts = [(each.recorded.num_retries, each.recorded.num_refused) for each in (enough, scarce, little)]
    assert counts == [(0, 0), (6, 0), (10, 0)]
    assert {advised(each) for each in (enough, scarce)} == {"expandable_segments:True"}
    assert little.recorded.peak_reserved_bytes == 42 * MIB  # 20 MiB pages do not fit into what is left
    assert little.best is not None
    assert (advised(little), little.best.num_retries) == (WITH_MEMORY[0], 2)
    assert {*WITH_MEMORY} < {each.settings for each in enough.candidates}


def test_settings_that_serve_what_was_refused_are_advised() -> None:
    program = Program()
    kept = [program.allocate(6 * MIB) for _ in range(20)]
    for block in kept[::2]:
        assert block is not None
        program.free(block)
    program.allocate(58 * MIB)

    advice = advise(read(program), 0, total_bytes=160 * MIB)

    assert advice.recorded.num_refused == 1
    assert advice.best is None or advice.best.num_refused == 0


def test_collecting_keeps_reserved_memory_below_its_threshold() -> None:
    text = "garbage_collection_threshold:0.6,per_process_memory_fraction:0.95"

    advice = advise(read(growing_batches()), 0, [text], total_bytes=200 * MIB)

    assert advice.candidates[0].peak_reserved_bytes < advice.recorded.peak_reserved_bytes
    assert advice.candidates[0].is_confirmed


def test_several_ranks_get_the_settings_that_serve_the_fullest() -> None:
    small, large = Program(), growing_batches()
    small.allocate(20 * MIB)
    each = [advise(read(program), 0) for program in (small, large)]

    together = advise_together(each)

    assert advised(each[0]) is None
    assert advised(together) == "expandable_segments:True"
    assert together.recorded.peak_reserved_bytes == each[1].recorded.peak_reserved_bytes
    assert together.floor_bytes == 42 * MIB
    assert len(together.candidates) == len(CANDIDATES) - 1
