from __future__ import annotations

import csv
import pickle
from pathlib import Path

import pytest

from exporting.runs import WrittenRun
from heaps import census
from tenure.cli.main import run_command_line
from tenure.store.census_file import write_census
from torch_snapshots import OF_TORCH, block, frame, snapshot

HEADER = "process,rank,step,reason,device,address,bytes,requested_bytes,waits,owner,role,path,file,line,function"


def out_of_memory(run: WrittenRun) -> None:
    """Three blocks of which a census knows one, a stack another."""
    taken = census("main.history -> list -> [0] tensor#kept 1KiB cuda pointer=0x1000", step=3, moment="out-of-memory")
    write_census(run.folder / "census-000003-out-of-memory.npz", taken)
    found = snapshot(
        block(0x1000, 1024), block(0x1400, 512, frames=[OF_TORCH, frame("forward", line=12)]), block(0x1600, 256)
    )
    (run.folder / "allocator.pickle").write_bytes(pickle.dumps(found))
    row = {"step": 3, "moment": "out-of-memory", "file": "census-000003-out-of-memory.npz"}
    run.add(kind="census", seconds=0.1, num_objects=3, **row)
    run.add(kind="history", step=3, reason="out-of-memory", file="allocator.pickle", num_events=0, seconds=0.1)


def test_every_block_is_a_line_with_its_owner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = WrittenRun(tmp_path / "run", rank=0).add_steps(3)
    out_of_memory(run)
    WrittenRun(run.folder / "rank-00001", rank=1).add_steps(3)
    file = tmp_path / "blocks.csv"

    assert run_command_line(["export", str(run.folder), "--blocks", str(file)]) == 0

    assert capsys.readouterr().err == f"tenure: {file}: 3 blocks\n"
    header, *rows = csv.reader(file.read_text().splitlines())
    whose = ["main", "0", "3", "out-of-memory", "0"]
    assert ",".join(header) == HEADER
    assert rows == [
        [*whose, "0x1000", "1024", "1012", "0", "path", "other", "global `history` in main (main.py) -> [0]"]
        + [""] * 3,
        [*whose, "0x1400", "512", "500", "0", "stack", "", "", "/p/train.py", "12", "forward"],
        [*whose, "0x1600", "256", "244", "0", "native owner", "", "", "", "", ""],
    ]


def test_without_a_copy_it_is_one_line_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(3)

    assert run_command_line(["export", str(run.folder), "--blocks", str(tmp_path / "blocks.csv")]) == 2

    assert "has no copy of a device allocator's record: none is made on the CPU" in capsys.readouterr().err
    assert not (tmp_path / "blocks.csv").exists()
