"""`tenure run` of programs on a CUDA device: the line is named, the bytes are the device's, nothing waits."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moved_to_cuda import copy_moved_to_cuda
from tenure.cli.demo import DEMOS, DEMOS_FOLDER, Demo
from tenure.model.recording import Recording
from tenure.store.recording_file import list_recordings, open_recording, read_census

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Run:
    """What one run under `tenure run` left behind and said."""

    code: int
    printed: str
    findings: list[dict[str, Any]]
    recording: Recording

    @property
    def loud(self) -> list[tuple[str, str, int]]:
        return [
            (each["rule"], each["holder"]["name"], each["holder"]["line"])
            for each in self.findings
            if each["confidence"] != "possible"
        ]

    @property
    def failures(self) -> list[str]:
        return [note.text for note in self.recording.notes if note.level == "failure"]


def watch(program: Path, into: Path, *options: str) -> Run:
    command = [sys.executable, "-m", "tenure", "run", *options, "-o", str(into), program.name]
    run = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=200)
    found = into / "findings.json"
    assert found.is_file(), run.stderr
    findings = json.loads(found.read_text())["findings"]
    (recording,) = list_recordings(into)
    return Run(run.returncode, run.stdout + run.stderr, findings, open_recording(recording))


def alive_at_forward(program: Path, *options: str) -> int:
    """Bytes of tensors on the device as a forward begins, as the program measures itself, without Tenure."""
    command = [sys.executable, program.name, *options]
    run = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=200)
    assert run.returncode == 0, run.stderr
    return int(run.stdout.partition("measured: ")[2].split()[0])


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_each_demo_is_found_on_the_device(demo: Demo, tmp_path: Path) -> None:
    copy_moved_to_cuda(DEMOS_FOLDER, tmp_path / "demos")

    run = watch(tmp_path / "demos" / f"{demo.name}.py", tmp_path / "recording")

    first = run.findings[0]
    assert (run.code, run.failures) == (0, []), run.printed
    assert first["rule"] in demo.rules
    assert first["holder"]["name"] in demo.holders
    assert first["device"] == "cuda:0"


def test_as_much_lives_less_at_each_forward_as_a_finding_says(tmp_path: Path) -> None:
    copy_moved_to_cuda(DEMOS_FOLDER, tmp_path / "demos")
    program = tmp_path / "demos" / "retval_over_forward.py"

    run = watch(program, tmp_path / "recording")
    fell = alive_at_forward(program) - alive_at_forward(program, "--fixed")

    assert run.findings[0]["retained_bytes"] == pytest.approx(fell, rel=0.01), run.printed
    assert [entry.step for entry in run.recording.profiles], [note.text for note in run.recording.notes]


def test_watching_waits_for_the_device_nowhere(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "without_waiting.py", tmp_path / "recording")

    assert (run.code, run.failures) == (0, []), run.printed
    assert [(each["rule"], each["holder"]["name"]) for each in run.findings] == [("TN201", "losses")]
    assert run.findings[0]["growth_bytes_per_step"] == 512  # a block of the allocator's for each number
    assert len(run.recording.censuses) > 5


def test_a_training_in_order_is_told_nothing(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "all_in_order.py", tmp_path / "recording")

    assert (run.code, run.failures, run.loud) == (0, [], []), run.printed


def test_where_room_runs_out_the_holder_is_named(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "out_of_room.py", tmp_path / "recording")

    assert run.code == 1
    assert run.failures == []
    assert [found[:2] for found in run.loud] == [("TN202", "history")], run.printed
    assert "Out of memory on cuda:0" in run.printed
    assert "`history[*]`" in run.printed
    assert "at this rate out of memory" not in run.printed
    assert [entry.reason for entry in run.recording.histories] == ["out-of-memory"]


def test_graphs_that_are_kept_by_length_are_named(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "graphs_by_length.py", tmp_path / "recording")

    assert (run.code, run.failures) == (0, []), run.printed
    assert "graphs" in [name for _, name, _ in run.loud], run.printed


def test_buckets_of_the_reducer_are_told_and_no_finding(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "ranks_of_one.py", tmp_path / "recording")

    assert (run.code, run.failures, run.loud) == (0, [], []), run.printed
    assert "32.03 MiB of gradient buckets" in run.printed


def test_a_census_has_every_byte_that_the_allocator_gave(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "without_waiting.py", tmp_path / "recording")

    allocated = {step.step: step.counters["allocated_bytes"] for step in run.recording.steps}
    unseen = {}
    for entry in run.recording.censuses:
        if entry.moment == "step-end":
            storages = read_census(run.recording, entry).storages
            unseen[entry.step] = allocated[entry.step] - int(storages.bytes.sum())
    workspaces = unseen[min(unseen)]
    assert unseen, run.printed
    assert set(unseen.values()) == {workspaces}, unseen  # of cuBLAS: they come with the first products and stay
    assert 0 <= workspaces <= 2 * 2**26


def test_what_each_level_counts_is_in_the_recording(tmp_path: Path) -> None:
    run = watch(PROGRAMS / "slow_steps.py", tmp_path / "recording")

    of_device = [sample.counters for sample in run.recording.samples if "device_used_bytes" in sample.counters]
    last = run.recording.steps[-1].counters
    assert of_device, [note.text for note in run.recording.notes]
    assert 0 < last["allocated_bytes"] <= last["reserved_bytes"] <= of_device[-1]["device_used_bytes"]
    assert of_device[-1]["device_used_bytes"] <= of_device[-1]["device_total_bytes"]
