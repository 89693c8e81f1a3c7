"""`torchrun -m tenure run`: a launcher for each rank, one folder, one report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from programs.start import PROGRAMS, SOURCE
from tenure.capture.system.ranks import Place
from tenure.cli.program import Program
from tenure.cli.run import prepare_folder
from tenure.errors import UsageError
from tenure.model.recording import Recording
from tenure.store.recording_file import list_recordings, open_recording

needs_distributed = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this torch was built without torch.distributed"
)


def torchrun(folder: Path, *program: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("TENURE")}
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *options, *program],
        cwd=folder,
        env={**own, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )


def watched(folder: Path, *own: str, what: str = "", options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return torchrun(folder, "-m", "tenure", "run", *own, str(PROGRAMS / "ranks.py"), what, options=options)


def opened(folder: Path) -> dict[str, Recording]:
    return {Path(path).name: open_recording(path) for path in list_recordings(folder)}


def place(rank: int, restart: int | None = 0) -> Place:
    return Place(rank=rank, local_rank=rank, world_size=2, node="here", restart=restart)


@pytest.mark.slow
@needs_distributed
def test_each_rank_has_a_folder_and_one_reports_and_no_collective_is_added(tmp_path: Path) -> None:
    plain = torchrun(tmp_path, str(PROGRAMS / "ranks.py"))
    done = watched(tmp_path, what="leak")

    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(plain.stdout.splitlines())), done.stderr
    assert "{'all_reduce': 24}" in done.stdout
    (folder,) = tmp_path.glob("recording-ranks-*")
    ranks = opened(folder)
    assert {name: (len(each.steps), each.end and each.end["exit_code"]) for name, each in ranks.items()} == {
        "rank-00000": (24, 0),
        "rank-00001": (24, 0),
    }
    at = [[(entry.step, entry.moment) for entry in each.censuses if entry.moment != "peak"] for each in ranks.values()]
    assert at[0] == at[1] != []
    assert [each.process["local_rank"] for each in ranks.values()] == [0, 1]
    assert done.stderr.count("kept") >= 1
    assert (folder / "findings.json").is_file()
    assert sorted(child.name for child in folder.iterdir()) == ["findings.json", "rank-00000", "rank-00001"]


@pytest.mark.slow
@needs_distributed
def test_after_a_restart_each_rank_has_a_second_recording_and_censuses_are_on_the_ranks_named(tmp_path: Path) -> None:
    done = watched(
        tmp_path,
        *("-o", "out", "--no-diagnose", "--census-ranks", "1"),
        what="restart",
        options=("--max-restarts", "1"),
    )

    assert done.returncode == 0, done.stderr
    ranks = opened(tmp_path / "out")
    assert {name: each.process["restart"] for name, each in ranks.items()} == {
        "rank-00000": 0,
        "rank-00000-attempt-2": 1,
        "rank-00001": 0,
        "rank-00001-attempt-2": 1,
    }
    assert {name: bool(each.censuses) for name, each in ranks.items()} == {
        "rank-00000": False,
        "rank-00000-attempt-2": False,
        "rank-00001": True,
        "rank-00001-attempt-2": True,
    }
    assert [note.text for note in ranks["rank-00001"].notes if "at once" in note.text] == [
        "the program was ended at once with exit code 3; the last second of steps may be missing"
    ]
    assert len(ranks["rank-00000-attempt-2"].steps) == len(ranks["rank-00001-attempt-2"].steps) == 24


def test_ranks_of_one_run_share_a_folder(tmp_path: Path) -> None:
    program = Program("script", ("train.py",))

    folders = [prepare_folder(str(tmp_path / "out"), program, place(rank)) for rank in (0, 1)]
    (tmp_path / "out" / "rank-00000").mkdir()
    (tmp_path / "out" / "rank-00000" / "process.json").touch()
    (tmp_path / "out" / "findings.json").touch()

    assert folders == [tmp_path / "out"] * 2
    assert prepare_folder(str(tmp_path / "out"), program, place(1)) == tmp_path / "out"
    assert prepare_folder(str(tmp_path / "out"), program, place(0)) == tmp_path / "out", "restarted since"


def test_a_rank_of_an_earlier_run_is_never_mixed_with_this_one(tmp_path: Path) -> None:
    program = Program("script", ("train.py",))
    earlier = tmp_path / "rank-00000" / "process.json"
    earlier.parent.mkdir()
    earlier.touch()
    os.utime(earlier, (1e9, 1e9))

    with pytest.raises(UsageError, match="holds rank 0 of an earlier run, and nothing is overwritten"):
        prepare_folder(str(tmp_path), program, place(0))
    assert prepare_folder(str(tmp_path), program, place(0, restart=1)) == tmp_path
    (tmp_path / "mine.txt").touch()
    with pytest.raises(UsageError, match="is not empty"):
        prepare_folder(str(tmp_path), program, place(1))
