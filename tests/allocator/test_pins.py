"""What pins free memory is told by its place, with what another order would have saved by replay."""

from __future__ import annotations

from allocator.recorded import Program
from allocator.training import frame
from tenure.allocator.blocks import Block
from tenure.allocator.pins import Fragmentation, Saved, fragmentation_of
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB
from tenure.allocator.story import story_of
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes

WORK = [frame("work", "/home/me/train.py", 30)]
KEEP = [frame("keep", "/home/me/train.py", 40)]


def asked(program: Program, size: int, frames: list[dict[str, object]]) -> Block:
    program.frames = frames
    block = program.allocate(size)
    assert block is not None
    return block


def results_between_buffers(steps: int = 10, total_bytes: int | None = None) -> Program:
    """Each step's result of 2 MiB is kept in what its smaller buffer leaves of the segment of the larger one."""
    program = Program(total_bytes=total_bytes)
    for _ in range(steps):
        program.free(asked(program, 64 * MIB, WORK))
        smaller = asked(program, 62 * MIB, WORK)
        asked(program, 2 * MIB, KEEP)
        program.free(smaller)
    return program


def explained(program: Program, keep_last: int | None = None) -> tuple[Snapshot, Fragmentation]:
    snapshot = snapshot_from_bytes(program.pickled(keep_last), "made")
    replay = replay_snapshot(snapshot, 0)
    found = fragmentation_of(snapshot, replay, story_of(snapshot, replay))
    assert found is not None
    return snapshot, found


def test_the_blocks_that_pin_most_are_told_with_what_another_order_saves() -> None:
    snapshot, found = explained(results_between_buffers())
    (pin,) = found.pins

    assert snapshot.frames[snapshot.stacks[pin.stack][0]].line == 40
    assert (found.reserved_bytes, found.free_bytes, found.stuck_bytes) == (192 * MIB, 0, 124 * MIB)
    assert (pin.stuck_bytes, pin.pin_bytes, len(pin.rooms)) == (124 * MIB, 4 * MIB, 2)
    assert (pin.rooms[0].bytes, pin.rooms[0].free_bytes) == (64 * MIB, 62 * MIB)
    assert snapshot.traces[0].bytes[pin.since_event] == 2 * MIB
    assert pin.saved == Saved(absent=128 * MIB, first=108 * MIB, own_pool=108 * MIB, held_bytes=4 * MIB)


def test_memory_that_nothing_pins_is_free() -> None:
    program = Program()
    for size in (30, 60, 90):
        program.free(asked(program, size * MIB, WORK))
    asked(program, 120 * MIB, WORK)

    _, found = explained(program)

    assert (found.reserved_bytes, found.free_bytes, found.stuck_bytes) == (300 * MIB, 180 * MIB, 0)
    assert found.pins == ()


def test_a_trace_that_begins_later_is_played_from_where_its_blocks_lay() -> None:
    _, late = explained(results_between_buffers(), 40)
    (pin,) = late.pins

    assert (late.reserved_bytes, late.stuck_bytes) == (192 * MIB, 110 * MIB)
    assert (pin.since_event, len(pin.rooms)) == (-1, 2)
    assert pin.saved == Saved(absent=0, held_bytes=8 * MIB)  # what was reserved before the trace stays reserved
