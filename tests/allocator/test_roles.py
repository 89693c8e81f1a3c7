"""What a block was for is told by how long it lived, whatever the program's functions are called."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from allocator.recorded import Program
from allocator.training import ACTIVATIONS, MODEL, OPTIMIZER, PARAMETERS, Training
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.roles import BlockRole
from tenure.allocator.settings import MIB
from tenure.allocator.steps import Basis
from tenure.allocator.story import Story, story_of
from tenure.allocator.torch_frames import Phase
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import read_snapshot, snapshot_from_bytes

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "snapshots"


def told(snapshot: Snapshot) -> Story:
    return story_of(snapshot, replay_snapshot(snapshot, 0))


def sizes(story: Story, event: int) -> dict[str, list[int]]:
    """MiB of what is in use after an event, by role; blocks below a MiB are left out."""
    rows = story.lives.in_use_after(event).tolist()
    found: dict[str, list[int]] = {}
    for row in rows:
        size = int(story.lives.bytes[row]) // MIB
        if size:
            found.setdefault(BlockRole(int(story.role[row])).name, []).append(size)
    return {role: sorted(each) for role, each in found.items()}


def peak_of_last_backward(story: Story, snapshot: Snapshot) -> int:
    events = [event for event in range(len(story.phases.phase)) if story.phases.phase[event] == Phase.BACKWARD]
    return next(event for event in events if story.step_at(event) == story.steps.last - 1) + 3


@pytest.mark.parametrize("engine_stacks", [False, True])
def test_every_block_of_a_training_loop_has_its_role(engine_stacks: bool) -> None:
    training = Training(engine_stacks=engine_stacks)
    for _ in range(4):
        training.step()
    snapshot = training.read()

    story = told(snapshot)

    assert (story.steps.basis, story.steps.last) == (Basis.OPTIMIZER, 4)
    assert sizes(story, peak_of_last_backward(story, snapshot)) == {
        "PARAMETER": [3, 6],
        "OPTIMIZER_STATE": [3, 3, 6, 6],
        "ACTIVATION": [12, 14],
        "INPUT": [2],
        "TEMPORARY": [4],
        "GRADIENT": [3],
    }
    small = Counter(
        BlockRole(int(role)).name for role, size in zip(story.role, story.lives.bytes, strict=True) if size < MIB
    )
    assert small == {"OUTPUT": 4, "TEMPORARY": 4}  # losses, and the first gradient of each backward


def test_phases_follow_torchs_frames_and_stackless_blocks_are_backwards() -> None:
    training = Training()
    training.step()
    snapshot = training.read()
    stackless = snapshot.traces[0].stack < 0

    story = told(snapshot)

    assert stackless.sum() == 12
    assert set(story.phases.phase[stackless].tolist()) == {Phase.BACKWARD}
    runs = [
        Phase(int(story.phases.phase[event]))
        for event in range(len(stackless))
        if event == 0 or story.phases.run[event] != story.phases.run[event - 1]
    ]
    assert runs == [Phase.OUTSIDE, Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER, Phase.OUTSIDE]


def test_a_trace_that_begins_in_mid_life_tells_parameters_and_state_by_their_sizes() -> None:
    training = Training()
    training.step()
    before = len(training.program.events)
    training.step()
    training.step()
    snapshot = training.read(len(training.program.events) - before)

    story = told(snapshot)

    found = sizes(story, -1)
    assert found["PARAMETER"] == sorted(size // MIB for size in PARAMETERS)
    assert found["OPTIMIZER_STATE"] == sorted(size // MIB for size in PARAMETERS * 2)
    assert found["GRADIENT"] == sorted(size // MIB for size in PARAMETERS)


def test_a_forward_that_is_not_over_is_known_by_what_its_lines_asked_for_before() -> None:
    training = Training()
    training.step()
    training.step()
    training.step(until="forward")

    story = told(training.read())

    assert sizes(story, story.lives.num_events - 1)["ACTIVATION"] == sorted(size // MIB for size in ACTIVATIONS)


def test_what_a_forward_keeps_before_any_backward_is_not_called_activation() -> None:
    training = Training()
    training.step(until="forward")

    story = told(training.read())

    assert sizes(story, story.lives.num_events - 1)["KEPT_BY_FORWARD"] == sorted(size // MIB for size in ACTIVATIONS)
    assert story.steps.basis is Basis.NONE


def test_steps_are_told_by_what_comes_again_where_no_stack_is() -> None:
    program = Program(frames=[])
    for _ in range(6):
        first, second = program.allocate(12 * MIB), program.allocate(3 * MIB)
        program.allocate(MIB)
        assert first is not None
        assert second is not None
        program.free(second)
        program.free(first)

    story = told(snapshot_from_bytes(program.pickled(), "made"))

    assert story.steps.basis is Basis.PERIOD
    assert story.steps.last == 5
    assert Counter(BlockRole(int(role)).name for role in story.role) == {"UNKNOWN": 12, "SURVIVOR": 6}


def test_a_climb_through_equal_layers_is_no_step() -> None:
    program = Program(frames=[])
    for _ in range(12):
        program.allocate(4 * MIB)
        scratch = program.allocate(2 * MIB)
        assert scratch is not None
        program.free(scratch)

    assert told(snapshot_from_bytes(program.pickled(), "made")).steps.basis is Basis.NONE


def test_frees_without_stacks_are_of_the_phase_around_them() -> None:
    training = Training(engine_stacks=True)
    for _ in range(3):
        training.step()
    whole = told(training.read())
    for event in training.program.events:
        if event["action"].startswith("free"):
            event["frames"] = []

    story = told(training.read())

    assert story.steps.ends[0] > whole.steps.ends[0]  # what is freed after the optimizer's step counts to it
    assert (story.role == whole.role).all()


def test_without_stacks_what_annotations_do_not_tell_is_unknown() -> None:
    training = Training()
    for _ in range(2):
        training.step()
    optimizer = [event["time_us"] for event in training.program.events if event["frames"] == OPTIMIZER]
    for event in training.program.events:
        event["frames"] = []
    middle = optimizer[len(optimizer) - 4]  # the second step's
    for first, last in ((optimizer[0], middle - 20), (middle, optimizer[-1])):
        annotation = {"name": "Optimizer.step#AdamW.step", "device": 0}
        training.program.annotations += [
            {**annotation, "stage": "START", "time_us": first},
            {**annotation, "stage": "END", "time_us": last + 1},
        ]

    story = told(training.read())

    assert story.steps.basis is Basis.OPTIMIZER
    assert set(story.phases.phase.tolist()) == {Phase.OPTIMIZER, Phase.UNKNOWN}
    assert BlockRole.ACTIVATION not in story.role


def test_what_an_error_of_memory_frees_keeps_the_role_it_had() -> None:
    program = Program(total_bytes=60 * MIB, frames=MODEL)
    kept = [program.allocate(20 * MIB) for _ in range(2)]
    assert program.allocate(40 * MIB) is None
    for block in kept:
        assert block is not None
        program.free(block)

    story = told(snapshot_from_bytes(program.pickled(), "made"))

    assert set(story.role.tolist()) == {BlockRole.KEPT_BY_FORWARD}


def test_a_loop_inside_of_a_step_is_no_step() -> None:
    program = Program(frames=[])
    first = program.allocate(200 * MIB)
    assert first is not None
    program.free(first)
    for _ in range(12):
        both = program.allocate(12 * MIB), program.allocate(3 * MIB)
        for block in both:
            assert block is not None
            program.free(block)

    assert told(snapshot_from_bytes(program.pickled(), "made")).steps.basis is Basis.NONE


@pytest.mark.skipif(not PUBLISHED.exists(), reason="other people's snapshots are not at hand")
@pytest.mark.parametrize(
    ("name", "copies"),
    [("cs336-332e0bb4", 2), ("w_0db7d8c0", 2), ("w_83e7cb0c", 2), ("w_8a4284c4", 2)],
)
def test_published_steps_of_adam_have_two_states_for_each_parameter(name: str, copies: int) -> None:
    story = told(read_snapshot(PUBLISHED / f"{name}.pickle"))

    end = Counter[str]()
    for row in story.lives.in_use_after(story.lives.num_events - 1).tolist():
        end[BlockRole(int(story.role[row])).name] += int(story.lives.bytes[row])
    assert end["GRADIENT"] == end["PARAMETER"]
    assert end["OPTIMIZER_STATE"] == copies * end["PARAMETER"]
    assert end["UNKNOWN"] == 0


def by_role(snapshot: Snapshot) -> tuple[Counter[BlockRole], int]:
    """Bytes at the peak by role, and their sum."""
    replay = replay_snapshot(snapshot, 0)
    story = story_of(snapshot, replay)
    found = Counter[BlockRole]()
    for row in story.lives.in_use_after(replay.active.event).tolist():
        found[BlockRole(int(story.role[row]))] += int(story.lives.bytes[row])
    return found, found.total()


def with_less(told: dict[str, Any], what: str) -> dict[str, Any]:
    """A snapshot as torch had recorded it with lines of Python alone, for allocations alone, or with no stacks."""
    for event in told["device_traces"][0]:
        keeps = what == "python" or (what == "allocations" and event["action"] == "alloc")
        frames = (event.get("frames") or []) if keeps else []
        event["frames"] = [each for each in frames if each["filename"].endswith(".py")]
    for segment in told["segments"]:
        for block in segment["blocks"]:
            frames = (block.get("frames") or []) if what != "nothing" else []
            block["frames"] = [each for each in frames if each["filename"].endswith(".py")]
    told["external_annotations"] = []
    return told


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.exists(), reason="other people's snapshots are not at hand")
@pytest.mark.parametrize("what", ["python", "allocations", "nothing"])
@pytest.mark.parametrize("name", ["cs336-332e0bb4", "cs336-f1bbbe19", "eor", "ft", "w_83e7cb0c"])
def test_with_less_recorded_less_is_known_and_nothing_is_named_wrongly(name: str, what: str) -> None:
    data = (PUBLISHED / f"{name}.pickle").read_bytes()
    whole, total = by_role(snapshot_from_bytes(data, name))

    found, _ = by_role(snapshot_from_bytes(pickle.dumps(with_less(pickle.loads(data), what)), name))

    weaker = (BlockRole.UNKNOWN, BlockRole.RESIDENT)
    wrongly = sum(max(size - whole[role], 0) for role, size in found.items() if role not in weaker)
    assert wrongly <= 0.002 * total  # workspaces of cuBLAS, which frames of C++ tell
    if what != "nothing" and name != "eor":
        assert sum(min(size, whole[role]) for role, size in found.items()) >= 0.998 * total
