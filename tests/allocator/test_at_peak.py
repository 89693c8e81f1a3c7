"""Who asked for what was in use at the peak, and whose blocks were never freed."""

from __future__ import annotations

from allocator.recorded import Program
from allocator.training import Training
from tenure.allocator.at_peak import Composition, Part, StepPhase, composition, phases_by_step
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB
from tenure.allocator.story import story_of
from tenure.allocator.torch_frames import Phase
from tenure.allocator.unused import PinnedSegment, Unused, unused_at_end
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes


def called(program: Program, line: int) -> None:
    """Let the last allocation have been asked for at this line."""
    program.events[-1]["frames"] = [{"name": "step", "filename": "train.py", "line": line}]


def read(program: Program, keep_last: int | None = None) -> Snapshot:
    return snapshot_from_bytes(program.pickled(keep_last), "made")


def composed(snapshot: Snapshot) -> Composition:
    replay = replay_snapshot(snapshot, 0)
    return composition(snapshot, story_of(snapshot, replay), replay.active.event)


def lines(snapshot: Snapshot, found: tuple[Part, ...]) -> list[tuple[int, int, int]]:
    """Line, blocks and bytes; line 0 where there is no stack."""
    told = []
    for each in found:
        line = snapshot.frames[snapshot.stacks[each.stack][0]].line if each.stack >= 0 else 0
        told.append((line, each.num_blocks, each.bytes))
    return told


def leaking(steps: int = 8) -> Program:
    """Each step keeps a loss and frees its activations."""
    program = Program()
    program.allocate(32 * MIB)
    called(program, 1)
    for _ in range(steps):
        activations = program.allocate(12 * MIB)
        called(program, 2)
        program.allocate(MIB)
        called(program, 3)
        assert activations is not None
        program.free(activations)
    return program


def test_blocks_in_use_at_the_peak_are_grouped_by_their_stack() -> None:
    snapshot = read(leaking())

    found = composed(snapshot)

    assert lines(snapshot, found.parts) == [(1, 1, 32 * MIB), (2, 1, 12 * MIB), (3, 8, 8 * MIB)]
    assert found.earlier_bytes == 0


def test_what_was_there_before_the_trace_has_no_stack_unless_the_end_tells_it() -> None:
    program = leaking()
    kept = len(program.events) - 2
    told = read(program, kept)
    program.frames_at.clear()  # as where recording began later
    untold = read(program, kept)

    found, without = composed(told), composed(untold)

    assert lines(told, found.parts) == [(12, 1, 32 * MIB), (2, 1, 12 * MIB), (3, 8, 8 * MIB)]
    assert lines(untold, without.parts) == [(0, 1, 32 * MIB), (2, 1, 12 * MIB), (3, 8, 8 * MIB)]
    assert found.earlier_bytes == without.earlier_bytes == 32 * MIB


def test_the_peak_is_told_by_role() -> None:
    training = Training()
    for _ in range(3):
        training.step()

    found = composed(training.read())

    assert {role.name: size // MIB for role, size in found.by_role.items() if size >= MIB} == {
        "ACTIVATION": 26,
        "OPTIMIZER_STATE": 18,
        "PARAMETER": 9,
        "TEMPORARY": 4,
        "GRADIENT": 3,
        "INPUT": 2,
    }


def test_what_the_program_calls_its_memory_is_told() -> None:
    program = leaking()
    for event in program.events[-12:]:
        event["user_metadata"] = "last steps"

    found = composed(read(program))

    assert found.by_label == {"": (32 + 5) * MIB, "last steps": (12 + 3) * MIB}


def test_each_phase_of_each_step_has_its_own_peak() -> None:
    training = Training()
    training.step()
    snapshot = training.read()

    found = phases_by_step(story_of(snapshot, replay_snapshot(snapshot, 0)))

    peaks = [(each.step, each.phase, each.peak_bytes // MIB) for each in found]
    assert isinstance(found[0], StepPhase)
    assert peaks == [
        (0, Phase.OUTSIDE, 11),
        (0, Phase.FORWARD, 42),
        (0, Phase.BACKWARD, 44),
        (0, Phase.OPTIMIZER, 45),
        (1, Phase.OUTSIDE, 38),
    ]


def test_free_memory_at_the_end_is_told_by_what_keeps_it() -> None:
    program = Program()
    large = program.allocate(40 * MIB)
    inner = program.allocate(4 * MIB)
    pin = program.allocate(2 * MIB + 100)
    assert large is not None
    assert inner is not None
    assert pin is not None
    program.free(large)
    program.free(inner)
    snapshot = read(program)

    rounded = 2 * MIB + 512
    assert unused_at_end(snapshot, 0) == Unused(
        reserved_bytes=60 * MIB,
        in_use_bytes=rounded,
        cached_bytes=40 * MIB,
        pinned_bytes=20 * MIB - rounded,
        slack_bytes=412,
        pinned=(PinnedSegment(inner.address, 20 * MIB, 20 * MIB - rounded, 1, 0),),
    )


def test_what_modules_asked_for_is_told_by_their_forwards_lines() -> None:
    training = Training()
    training.step()
    training.step(until="forward")
    snapshot = training.read()

    found = composed(snapshot)

    assert [(line.file, line.line) for line in found.by_module] == [("/home/me/model.py", 12)]
    assert sum(found.by_module.values()) <= sum(part.bytes for part in found.parts)
    assert sum(found.by_module.values()) == sum(part.bytes for part in found.parts if part.phase is Phase.FORWARD)
