"""What is born in step after step and stays is told by its line; where nothing grows nothing is said."""

from __future__ import annotations

from collections import deque

from allocator.recorded import Program
from allocator.training import KEEPING, LOADING, Training
from tenure.allocator.blocks import Block
from tenure.allocator.leaks import Leak, leaks_of
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB
from tenure.allocator.story import story_of
from tenure.allocator.torch_frames import Phase
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes


def found(snapshot: Snapshot) -> tuple[Leak, ...]:
    return leaks_of(snapshot, story_of(snapshot, replay_snapshot(snapshot, 0)))


def test_a_leak_is_told_by_step_and_line() -> None:
    training = Training(leak_bytes=MIB)
    for _ in range(5):
        training.step()
    snapshot = training.read()

    (leak,) = found(snapshot)

    assert (leak.bytes_per_step, leak.blocks_per_step, leak.num_steps, leak.bytes) == (MIB, 1, 5, 5 * MIB)
    assert (leak.phase, leak.first_step, leak.num_blocks) == (Phase.FORWARD, 0, 5)
    assert snapshot.frames[snapshot.stacks[leak.stack][0]].line == KEEPING[0]["line"]


def test_a_healthy_loop_has_no_leaks() -> None:
    training = Training()
    for _ in range(6):
        training.step()

    assert found(training.read()) == ()


def test_what_is_kept_every_third_step_is_told() -> None:
    training = Training()
    for step in range(12):
        training.leak_bytes = MIB if step % 3 == 2 else 0
        training.step()

    (leak,) = found(training.read())

    assert (leak.num_steps, leak.first_step, leak.bytes_per_step) == (4, 2, MIB)


def test_what_is_kept_in_the_first_steps_alone_is_not() -> None:
    training = Training(leak_bytes=MIB)
    for step in range(9):
        training.leak_bytes = MIB if step < 4 else 0
        training.step()

    assert found(training.read()) == ()


def test_two_steps_are_not_enough_to_tell() -> None:
    training = Training(leak_bytes=MIB)
    for _ in range(2):
        training.step()

    assert found(training.read()) == ()


def test_a_full_cache_is_no_leak() -> None:
    training = Training()
    kept: deque[Block] = deque()
    for _ in range(6):
        training.step()
        kept.append(training.ask(3 * MIB, KEEPING))
        if len(kept) > 3:
            training.free(LOADING, kept.popleft())

    assert found(training.read()) == ()


def test_making_a_model_is_no_leak() -> None:
    program = Program()
    for _ in range(40):
        program.allocate(3 * MIB)

    assert found(snapshot_from_bytes(program.pickled(), "made")) == ()
