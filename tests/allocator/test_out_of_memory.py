"""Where memory ran out: what was asked for, why nothing fitted, and what replays say would have."""

from __future__ import annotations

from allocator.recorded import Program
from allocator.test_pins import WORK, results_between_buffers
from tenure.allocator.out_of_memory import FreeMemory, OutOfMemory, Release, out_of_memory_in
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.roles import BlockRole
from tenure.allocator.settings import MIB
from tenure.allocator.story import story_of
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes


def told(program: Program, keep_last: int | None = None) -> tuple[Snapshot, OutOfMemory | None]:
    snapshot = snapshot_from_bytes(program.pickled(keep_last), "made")
    replay = replay_snapshot(snapshot, 0)
    return snapshot, out_of_memory_in(snapshot, replay, story_of(snapshot, replay))


def fragmented() -> Program:
    """There is enough free memory for the last request, and not in one piece."""
    program = results_between_buffers(total_bytes=200 * MIB)
    program.frames = WORK
    assert program.allocate(100 * MIB) is None
    return program


def test_why_nothing_fitted_is_told_from_the_allocators_own_state() -> None:
    snapshot, error = told(fragmented())

    assert error is not None
    assert (error.asked_bytes, error.segment_bytes, error.num_errors) == (100 * MIB, 100 * MIB, 1)
    assert (error.reserved_bytes, error.device_free_bytes, error.limit_bytes) == (128 * MIB, 72 * MIB, 200 * MIB)
    assert error.in_use_bytes == 20 * MIB
    assert error.free == FreeMemory(62 * MIB, 108 * MIB, 0, 0, 0)
    assert not error.is_held_back
    assert snapshot.frames[snapshot.stacks[error.stack][0]].line == 30


def test_settings_and_releases_that_serve_the_request_are_found_by_replay() -> None:
    _, error = told(fragmented())

    assert error is not None
    assert error.settings is not None
    assert error.settings[:2] == ("max_split_size_mb:64", "roundup_power2_divisions:2")
    assert "expandable_segments:True" in error.settings
    assert error.releases is not None
    assert [(each.role, each.bytes) for each in error.releases] == [(BlockRole.SURVIVOR, 20 * MIB)]


def test_where_all_of_it_is_needed_nothing_would_have_fitted() -> None:
    program = Program(total_bytes=100 * MIB)
    program.frames = WORK
    for _ in range(2):
        program.allocate(50 * MIB)
    assert program.allocate(120 * MIB) is None

    _, error = told(program)

    assert error is not None
    assert (error.settings, error.releases, error.lacking_bytes) == ((), (), 120 * MIB)
    assert error.free == FreeMemory(largest=0, same=0, other_size=0, other_streams=0, other_pools=0)


def test_free_memory_of_other_streams_and_sizes_is_told_apart() -> None:
    program = Program(total_bytes=100 * MIB)
    other = program.allocate(40 * MIB, stream=7)
    pin = program.allocate(8 * MIB, stream=7)
    small = program.allocate(MIB)
    kept = program.allocate(512)
    assert other is not None
    assert pin is not None
    assert small is not None
    assert kept is not None
    del kept
    rest = program.allocate(30 * MIB)
    assert rest is not None
    program.free(small)
    assert program.allocate(60 * MIB) is None

    _, error = told(program)

    assert error is not None
    assert error.free == FreeMemory(largest=0, same=0, other_size=2 * MIB - 512, other_streams=12 * MIB, other_pools=0)


def test_a_trace_that_begins_in_mid_life_is_judged_from_where_its_blocks_lay() -> None:
    _, whole = told(fragmented())
    _, error = told(fragmented(), 4)

    assert whole is not None
    assert error is not None
    assert error.free == whole.free
    assert error.settings is None  # asked for anew what was there before would lie side by side
    assert error.releases == (Release(0, BlockRole.UNKNOWN, 10, 20 * MIB),)


def test_a_trace_without_an_error_has_none() -> None:
    program = Program()
    program.allocate(MIB)

    assert told(program)[1] is None
