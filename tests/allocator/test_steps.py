"""Where steps end: at annotations, the last optimizer of a turn, backward, calls of modules, or what comes again."""

from __future__ import annotations

from allocator.recorded import Program
from allocator.training import BACKWARD, LOADING, MODEL, OPTIMIZER, Training, frame
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB
from tenure.allocator.steps import Basis, Steps
from tenure.allocator.story import story_of
from tenure.store.torch_snapshot import snapshot_from_bytes

SECOND = [*OPTIMIZER[:-1], frame("main", "/home/me/train.py", 35)]


def steps(program: Program) -> Steps:
    snapshot = snapshot_from_bytes(program.pickled(), "made")
    return story_of(snapshot, replay_snapshot(snapshot, 0)).steps


def passes(program: Program, *phases: list[dict[str, object]]) -> None:
    """A block is asked for and freed in each of these phases."""
    for frames in phases:
        program.frames = frames
        block = program.allocate(3 * MIB)
        assert block is not None
        program.free(block)


def test_two_optimizers_that_take_turns_end_one_step() -> None:
    program = Program()
    for _ in range(4):
        passes(program, MODEL, BACKWARD, OPTIMIZER, MODEL, BACKWARD, SECOND, LOADING)

    found = steps(program)

    assert (found.basis, len(found.ends)) == (Basis.OPTIMIZER, 4)


def test_backwards_that_accumulate_belong_to_one_step() -> None:
    program = Program()
    for _ in range(3):
        passes(program, MODEL, BACKWARD, MODEL, BACKWARD, MODEL, BACKWARD, OPTIMIZER, LOADING)

    found = steps(program)

    assert (found.basis, len(found.ends)) == (Basis.OPTIMIZER, 3)


def test_without_an_optimizer_backward_ends_a_step() -> None:
    program = Program()
    for _ in range(3):
        passes(program, MODEL, BACKWARD, LOADING)

    found = steps(program)

    assert (found.basis, len(found.ends)) == (Basis.BACKWARD, 2)  # after the last nothing begins


def test_calls_of_two_modules_that_take_turns_end_one_step() -> None:
    other = [MODEL[0], MODEL[1], frame("main", "/home/me/generate.py", 44)]
    program = Program()
    for _ in range(3):
        passes(program, MODEL, LOADING, other, LOADING)

    found = steps(program)

    assert (found.basis, len(found.ends)) == (Basis.CALLS, 3)


def test_the_profilers_steps_count_before_all_others() -> None:
    training = Training()
    ends = []
    for number in range(3):
        first = len(training.program.events)
        training.step()
        ends.append(len(training.program.events))
        times = training.program.events[first]["time_us"], training.program.events[-1]["time_us"] + 1
        for stage, time in zip(("START", "END"), times, strict=True):
            name = f"ProfilerStep#{number}"
            training.program.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": time})

    found = steps(training.program)

    assert (found.basis, found.ends) == (Basis.ANNOTATIONS, tuple(ends[:-1]))


def test_an_optimizer_that_asks_for_nothing_ends_steps_by_its_annotation() -> None:
    program = Program()
    for _ in range(3):
        passes(program, MODEL, BACKWARD)
        time = program.events[-1]["time_us"]
        for stage in ("START", "END"):
            told = {"name": "Optimizer.step#SGD.step", "stage": stage, "device": 0, "time_us": time + 1}
            program.annotations.append(told)

    found = steps(program)

    assert (found.basis, len(found.ends)) == (Basis.OPTIMIZER, 2)
