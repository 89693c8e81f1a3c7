"""`tenure watch PID`: the recording of a process is found by the environment that it was started with."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tenure.capture.writing.folders import RECORDING_VARIABLE
from tenure.cli.main import run_command_line
from tenure.cli.watch_process import find_folder, is_process, start_again
from tenure.store.recording_file import RecordingWriter

WAIT = "import sys; print('up', flush=True); sys.stdin.read()"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}], env={{env!r}})"


@contextmanager
def process(source: str = WAIT, **variables: str) -> Iterator[int]:
    command = [sys.executable, "-c", source]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=os.environ | variables, stdin=pipe, stdout=pipe, text=True) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started.pid
        assert started.stdin is not None
        started.stdin.close()


def record(folder: Path, pid: int) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    RecordingWriter(folder, process={"pid": pid}).close()
    return str(folder)


def test_a_process_is_watched_in_the_folder_that_it_writes(tmp_path: Path) -> None:
    with process(**{RECORDING_VARIABLE: str(tmp_path)}) as pid:
        record(tmp_path / "rank-00000", 1)
        own = record(tmp_path / "rank-00001", pid)

        assert find_folder(pid) == own


def test_a_launcher_that_writes_nothing_stands_for_its_run(tmp_path: Path) -> None:
    with process(**{RECORDING_VARIABLE: str(tmp_path)}) as pid:
        record(tmp_path / "rank-00000", 1)

        assert find_folder(pid) == str(tmp_path)


def test_the_command_that_started_the_run_stands_for_it(tmp_path: Path) -> None:
    env = dict(os.environ) | {RECORDING_VARIABLE: str(tmp_path)}
    with process(PARENT.format(env=env)) as pid:
        assert find_folder(pid) == str(tmp_path)


def test_a_process_of_somebody_elses_is_one_line_that_says_how_to_start_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(sys, "remote_exec", raising=False)
    monkeypatch.delenv(RECORDING_VARIABLE, raising=False)
    with process("import sys; print('up', flush=True); sys.stdin.read()") as pid:
        assert run_command_line(["watch", str(pid)]) == 2

    version = ".".join(map(str, sys.version_info[:2]))
    assert capsys.readouterr().err == (
        f"tenure: process {pid} was not started by `tenure run`, and Python {version} cannot look into a running "
        f"program (3.14 can); start it again as: tenure run -c {shlex.quote(WAIT)}\n"
    )


def test_where_python_can_it_is_attached_to_and_its_new_folder_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def remote_exec(pid: int, script: str) -> None:
        asked.append(pid)
        (folder,) = tmp_path.iterdir()
        record(folder / f"process-{pid}", pid)
        (folder / ".attached").write_text(json.dumps({"failure": None}))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "remote_exec", remote_exec, raising=False)
    monkeypatch.delenv(RECORDING_VARIABLE, raising=False)
    with process() as pid:
        assert run_command_line(["watch", str(pid), "--once"]) == 0

    printed = capsys.readouterr()
    assert asked == [pid]
    assert printed.out == "run           step 0 · less than a second · no end was recorded\n"
    assert printed.err.startswith(f"tenure: process {pid} is recorded from now on, into recording-process-{pid}-")


def test_a_number_of_no_process_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    assert run_command_line(["watch", str(gone.pid)]) == 2
    assert capsys.readouterr().err == (
        f"tenure: there is no process {gone.pid} here; name the folder that `tenure run` writes\n"
    )


def test_a_folder_whose_name_is_a_number_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "17").mkdir()

    assert [is_process(text) for text in ("17", "18", "run", "1.5")] == [False, True, False, False]


def test_a_run_whose_folder_is_gone_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "gone"
    with process(**{RECORDING_VARIABLE: str(folder)}) as pid:
        assert run_command_line(["watch", str(pid)]) == 2

    assert capsys.readouterr().err == f"tenure: process {pid} recorded into {folder}, which is gone\n"


@pytest.mark.parametrize(
    ("command", "again"),
    [
        (["/usr/bin/python3.11", "train.py", "--name", "two words"], "tenure run train.py --name 'two words'"),
        (["python", "-m", "lib.train"], "tenure run -m lib.train"),
        (["python", "-u", "train.py"], "tenure run -- python -u train.py"),
        (["./train.sh"], "tenure run -- ./train.sh"),
        ([], "tenure run train.py"),
    ],
)
def test_the_command_to_start_it_again_is_one_that_records(command: list[str], again: str) -> None:
    assert start_again(command) == again
