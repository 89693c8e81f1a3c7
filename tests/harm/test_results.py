"""Training comes to the same bits with the recorder, with it switched off, and without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.start import start, start_watched
from tenure.store.recording_file import open_recording

PROGRAMS = (
    ("train_dropout.py",),
    ("train_with_loader_workers.py",),
    ("train_bf16.py",),
    ("train_compiled.py", "blocks", "fullgraph"),
    ("train_gan.py",),
    ("train_lbfgs.py",),
    ("train_checkpointed.py",),
    ("train_custom_function.py",),
    ("deaths.py",),
    ("train_and_capture.py", "traced"),
    ("train_and_capture.py", "strict"),
)
UNPROFILED = {"train_compiled.py", "exported", "strict", "ahead"}
"""Where dynamo or fake tensors are at work while steps would be profiled."""
VARIATIONS = (
    ("train_mlp.py",),
    ("train_accumulating.py",),
    ("train_in_generators.py",),
    ("train_in_tuples.py",),
    ("train_compiled.py", "method", "breaks"),
    ("train_compiled.py", "model", "breaks"),
    ("train_compiled.py", "model", "fullgraph"),
    ("train_compiled.py", "function", "fullgraph"),
    ("train_compiled.py", "blocks", "breaks"),
    *(("train_and_capture.py", way) for way in ("frozen", "symbolic", "exported", "ahead")),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [*PROGRAMS, *(pytest.param(program, marks=pytest.mark.thorough) for program in VARIATIONS)],
    ids=lambda program: "-".join(program).removesuffix(".py"),
)
def test_a_program_prints_and_learns_the_same_with_and_without(program: tuple[str, ...], tmp_path: Path) -> None:
    plain = start(*program)
    options = ("--census-at", "1,2,3,5,8,10,13", "--profile-step", "6")
    watched = start_watched(*program, folder=tmp_path / "run", options=options)

    assert (plain.exit_code, plain.stderr) == (0, "")
    assert (watched.exit_code, watched.stdout) == (0, plain.stdout)
    recording = open_recording(tmp_path / "run")
    assert len(recording.censuses) >= 5
    assert [note for note in recording.notes if note.level == "failure"] == []
    assert [entry.step for entry in recording.profiles] == ([] if UNPROFILED.intersection(program) else [7])


@pytest.mark.slow
@pytest.mark.parametrize("program", [("train_mlp.py",), ("train_compiled.py", "method", "breaks")], ids=" ".join)
def test_switched_off_a_program_runs_as_without_us_and_nothing_is_written(
    program: tuple[str, ...], tmp_path: Path
) -> None:
    plain = start(*program)
    switched_off = start_watched(*program, folder=tmp_path / "off", TENURE="0")

    assert (plain.exit_code, switched_off.exit_code, switched_off.stdout) == (0, 0, plain.stdout)
    assert not (tmp_path / "off").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["step", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("train", "scaled"))]
)
def test_a_compiled_optimizer_step_stays_as_it_is_and_its_steps_are_counted(what: str, tmp_path: Path) -> None:
    """Graphs, breaks and recompiles are equal; dynamo counts one frame less, our hook's that it need not look at."""
    program = ("train_compiled.py", what, "breaks")
    plain = start(*program)
    watched = start_watched(*program, folder=tmp_path / "run")

    assert (plain.exit_code, watched.exit_code) == (0, 0)
    assert _without_frames(watched.stdout) == _without_frames(plain.stdout)
    assert len(open_recording(tmp_path / "run").steps) == 14


def _without_frames(stdout: str) -> list[str]:
    return [line for line in stdout.splitlines() if not line.startswith("frames ")]
