"""The recorder put into a running program, with a stand-in for `sys.remote_exec`, which no Python here has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.capture.start_up import PACKAGE
from tenure.errors import UsageError
from tenure.live import attaching
from tenure.store.recording_file import list_recordings, open_recording

PROGRAM = """
import sys, torch
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def step():
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()

step()
print("running", flush=True)
script = sys.stdin.readline().strip()
if script:
    exec(compile(open(script).read(), script, "exec"), {"__name__": "__main__"})
for _ in range(5):
    step()
print("_tenure_attach" in globals())
"""

WITHOUT_TORCH = """
import sys
print("running", flush=True)
exec(open(sys.stdin.readline().strip()).read())
"""


class Remote:
    """A program that runs, and carries out a script between two of its statements."""

    def __init__(self, source: str) -> None:
        command = [sys.executable, "-c", source]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.said = ""

    def execute(self, pid: int, script: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(script + "\n")
        self.process.stdin.flush()

    def end(self) -> str:
        out, _ = self.process.communicate()
        return out


@pytest.mark.slow
def test_a_running_program_is_recorded_from_then_on(tmp_path: Path) -> None:
    remote, folder = Remote(PROGRAM), tmp_path / "run"
    assert attaching.attach(remote.process.pid, folder, execute=remote.execute) == folder
    said = remote.end()

    (path,) = list_recordings(folder)
    recording = open_recording(path)
    assert said == "False\n"
    assert Path(path).name == f"process-{remote.process.pid}"
    assert len(recording.steps) == 5
    assert (recording.end or {})["reason"] == "exit"


@pytest.mark.slow
def test_a_program_without_torch_is_one_line(tmp_path: Path) -> None:
    remote = Remote(WITHOUT_TORCH)
    with pytest.raises(UsageError) as told:
        attaching.attach(remote.process.pid, tmp_path / "run", execute=remote.execute)
    remote.end()

    assert str(told.value) == f"process {remote.process.pid} is not recorded: it has not imported torch"


@pytest.mark.parametrize("error", [PermissionError(1, "Operation not permitted"), RuntimeError("another version")])
def test_a_process_that_lets_nobody_in_is_one_line(tmp_path: Path, error: Exception) -> None:
    def refuse(pid: int, script: str) -> None:
        raise error

    with pytest.raises(UsageError) as told:
        attaching.attach(4711, tmp_path / "run", execute=refuse)

    assert str(told.value) == f"process 4711 lets nobody in: {error}; start it as `tenure run` to watch it"


def test_a_process_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attaching, "ANSWER_SECONDS", 0.0)
    with pytest.raises(UsageError, match="it has not answered in 0 s; its main thread may be in a long call"):
        attaching.attach(4711, tmp_path / "run", execute=lambda pid, script: None)


def test_a_failure_in_the_program_is_answered_and_never_raised(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    program = (
        "import sys, types\n"
        "sys.modules['torch'] = types.ModuleType('torch')\n"
        f"sys.path.insert(0, {str(PACKAGE / 'capture' / 'startup')!r})\n"
        "import _tenure_attach\n"
        f"_tenure_attach.begin({str(tmp_path)!r}, {str(tmp_path / 'nothing')!r}, {str(answer)!r})\n"
    )
    subprocess.run([sys.executable, "-S", "-c", program], check=True)

    assert json.loads(answer.read_text())["failure"].startswith("FileNotFoundError")
