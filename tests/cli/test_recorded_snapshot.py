"""A recording that holds a copy of the allocator's record is read with the names that hold its blocks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allocator.training import Training
from exporting.runs import WrittenRun
from heaps import census
from tenure.allocator.settings import MIB
from tenure.cli.main import run_command_line
from tenure.store.census_file import write_census

OOM = "out-of-memory"


def recorded(folder: Path, *, rank: int | None = None, leak_bytes: int = 20 * MIB) -> WrittenRun:
    """Four steps that keep a tensor each in a list, with a census and a copy of the same moment."""
    training = Training(leak_bytes=leak_bytes)
    for _ in range(4):
        training.step()
    run = WrittenRun(folder, rank=rank).add_steps(3)
    kept = [block for block in training.program.allocator.in_use.values() if block.requested == leak_bytes]
    size = f"{leak_bytes // 1024}KiB"
    lines = [
        f"main.history -> list -> [{number}] tensor#kept{number} {size} cuda pointer={block.address:#x}"
        for number, block in enumerate(sorted(kept, key=lambda block: block.address))
    ]
    write_census(folder / "census-000003-out-of-memory.npz", census("\n".join(lines), step=3, moment=OOM))
    (folder / "allocator-000003-out-of-memory.pickle").write_bytes(training.program.pickled())
    run.add(kind="census", seconds=0.1, num_objects=3, step=3, moment=OOM, file="census-000003-out-of-memory.npz")
    copy = {"file": "allocator-000003-out-of-memory.pickle", "num_events": len(training.program.events)}
    run.add(kind="history", step=3, reason=OOM, seconds=0.1, **copy)
    return run


def test_advise_of_a_recording_names_the_holders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    recorded(tmp_path / "run")

    assert run_command_line(["advise", str(tmp_path / "run")]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "copy          step 3, out-of-memory"
    assert lines[1].startswith("device 0      ")
    assert "held by       80.00 MiB in 4 blocks: global `history` in main (main.py)" in lines


def test_snapshot_of_a_recording_says_who_holds_what_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(tmp_path / "run")

    assert run_command_line(["snapshot", str(tmp_path / "run"), "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["copy"] == "step 3, out-of-memory"
    assert [leak["held_by"] for leak in told["leaks"]] == ["global `history` in main (main.py)"]
    assert told["holders"][0] == {"holder": "global `history` in main (main.py)", "bytes": 80 * MIB, "blocks": 4}


def test_of_several_ranks_advise_reads_the_fullest_and_snapshot_compares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    for rank in range(3):
        recorded(tmp_path / "run" / f"rank-0000{rank}", rank=rank, leak_bytes=(40 if rank == 2 else 20) * MIB)

    assert run_command_line(["advise", str(tmp_path / "run"), "--json"]) == 0
    advised = json.loads(capsys.readouterr().out)
    assert run_command_line(["snapshot", str(tmp_path / "run"), "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)

    assert advised["copy"] == "rank 2, step 3, out-of-memory"
    assert [(odd["rank"], odd["role"], odd["bytes_more"]) for odd in compared["odd"]] == [(2, "survivor", 80 * MIB)]


def test_a_recording_without_a_copy_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WrittenRun(tmp_path / "run").add_steps(3)

    assert run_command_line(["advise", str(tmp_path / "run")]) == 2

    assert "no copy of a device allocator's record in this folder" in capsys.readouterr().err
