"""Whatever befalls the recording, the program ends as it would; whatever ends the program, its rows can be read."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from programs.start import PROGRAMS, SOURCE, Outcome, start, start_watched
from tenure.store.recording_file import open_recording

pytestmark = pytest.mark.slow

AT = ("--census-at", "2,4,8,10")
CANNOT = "tenure: recording stopped, the program goes on: cannot write the recording"


@pytest.fixture(scope="module")
def plain() -> Outcome:
    outcome = start("harmed.py")
    assert (outcome.exit_code, outcome.stderr, outcome.stdout.count("\n")) == (0, "", 13)
    return outcome


@pytest.mark.parametrize(
    ("harm", "reasons"),
    [
        ("files-limited", ("File too large", "No space left on device")),
        ("folder-unwritable", ("Permission denied",)),
        ("folder-removed", ("No such file or directory",)),
        ("folder-replaced", ("Not a directory",)),
    ],
)
def test_a_recording_that_can_no_longer_be_written_is_one_line_and_the_program_goes_on(
    harm: str, reasons: tuple[str, ...], plain: Outcome, tmp_path: Path
) -> None:
    if harm == "folder-unwritable" and not _can_be_nobody():
        pytest.skip("root may write everywhere, and this system does not let it become nobody")
    _let_others_in(tmp_path)
    outcome = start_watched("harmed.py", harm, folder=tmp_path / "run", options=AT)

    assert (outcome.exit_code, outcome.stdout) == (0, plain.stdout), outcome.stderr
    said = [line for line in outcome.stderr.splitlines() if line.startswith(CANNOT)]
    assert len(said) == 1, outcome.stderr
    assert said[0].endswith(reasons)
    if harm == "folder-removed":
        assert outcome.stderr.splitlines()[1:] == [
            f"tenure: {tmp_path / 'run'} was removed while the program ran; nothing is left to diagnose"
        ]
    elif harm == "folder-replaced":
        assert outcome.stderr.splitlines()[1:] == [
            f"tenure: {tmp_path / 'run'} was replaced while the program ran; nothing is left to diagnose"
        ]
        assert (tmp_path / "run").read_text() == "mine"
    else:
        assert outcome.stderr.splitlines()[1:] == []
        (tmp_path / "run").chmod(0o755)  # or the diagnosis would say, to others than root, that it cannot be kept there
        _assert_diagnosed(tmp_path / "run", steps=4)


@pytest.mark.parametrize(
    ("found_by", "end", "text", "step"),
    [  # what a census wrote is taken back, so that the closing rows have room
        ("census", "recorder-failure", "cannot write the recording: {reason}", 8),
        (
            "row",
            "disk",
            "recording stopped after step {last}, the program went on: cannot write the recording {folder}: {reason}",
            None,
        ),
    ],
)
def test_a_disk_that_becomes_full_costs_the_rest_of_the_recording_and_nothing_else(
    found_by: str, end: str, text: str, step: int | None, plain: Outcome, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    small_disk = ("unshare", "--mount", "--map-root-user", "sh", "-c")
    mount = f"mount -t tmpfs -o size=8m none {disk}"
    if shutil.which("unshare") is None or subprocess.run([*small_disk, mount], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small disk of their own")
    run = f"{sys.executable} -m tenure run -o {disk}/run --no-diagnose --census-at 2,4,8,10"
    program = f"{PROGRAMS / 'harmed.py'} disk-full-at-{found_by}"
    command = f"{mount} && {run} {program}; code=$?; cp -r {disk}/run {tmp_path}; exit $code"
    done = subprocess.run([*small_disk, command], capture_output=True, text=True, timeout=300, env=_environment())

    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith(CANNOT)] == []
    assert done.stderr.endswith("No space left on device\n")
    _assert_diagnosed(tmp_path / "run", steps=1)
    recording = open_recording(tmp_path / "run")
    assert recording.how_it_ended == end
    reason = "No space left on device"
    said = text.format(last=recording.steps[-1].step, folder=disk / "run", reason=reason)
    assert [(note.text, note.step) for note in recording.notes] == [(said, step)]


def test_without_numpy_the_recording_stops_at_its_first_census_and_says_so(plain: Outcome, tmp_path: Path) -> None:
    alone = start("harmed.py", "no-numpy")
    outcome = start_watched("harmed.py", "no-numpy", folder=tmp_path / "run", options=AT)

    assert (outcome.exit_code, outcome.stdout) == (0, plain.stdout) == (alone.exit_code, alone.stdout)
    ours = [line for line in outcome.stderr.splitlines() if line.startswith("tenure: ")]
    error = "ModuleNotFoundError: import of numpy halted; None in sys.modules"
    assert ours == [f"tenure: recording stopped, the program goes on: {error}"]
    recording = open_recording(tmp_path / "run")
    assert ([step.step for step in recording.steps], recording.censuses) == ([1, 2], ())
    assert [note.text.splitlines()[0] for note in recording.notes if note.level == "failure"] == [error]
    _assert_diagnosed(tmp_path / "run", steps=2)


@pytest.mark.parametrize(
    ("death", "exit_code", "last_line"),
    [
        ("killed", -signal.SIGKILL, ""),
        ("terminated", -signal.SIGTERM, ""),
        ("interrupted", -signal.SIGINT, "KeyboardInterrupt"),
        ("gone", 4, ""),
        ("left", 3, ""),
        ("failed", 1, "TimeoutError: theirs"),
    ],
)
def test_a_program_that_ends_while_a_census_is_written_ends_its_own_way_and_its_rows_are_read(
    death: str, exit_code: int, last_line: str, plain: Outcome, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    outcome = start_watched("harmed.py", death, folder=folder, options=AT)

    # The third census is that of step 4's end: the first two are those of step 2 and of the forward after it.
    assert (outcome.exit_code, outcome.stdout.splitlines()) == (exit_code, plain.stdout.splitlines()[:4])
    assert (outcome.stderr.splitlines() or [""])[-1] == last_line
    recording = open_recording(folder)
    assert [(entry.step, entry.moment) for entry in recording.censuses] == [(2, "step-end"), (2, "forward-entry")]
    assert len(recording.steps) >= 2
    _assert_diagnosed(folder, steps=2)
    _assert_never_written_over(folder)


def _assert_diagnosed(folder: Path, *, steps: int) -> None:
    """`tenure diagnose` says what was seen of at least so many steps, and complains of nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "tenure", "diagnose", str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        env=_environment(),
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith(("nothing found", "no verdict"))
    assert len(open_recording(folder).steps) >= steps


def _assert_never_written_over(folder: Path) -> None:
    def read() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = read()
    again = start_watched("harmed.py", folder=folder)

    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == f"tenure: {folder} is not empty, and nothing is overwritten; name another folder\n"
    assert read() == before


def _can_be_nobody() -> bool:
    """Whether a program need not stay root here; a container may lack the right, or nobody."""
    give_up = "import os; os.getuid() or os.setuid(65534)"
    return subprocess.run([sys.executable, "-c", give_up], capture_output=True).returncode == 0


def _let_others_in(folder: Path) -> None:
    """A program that gives up root must find its own folder still."""
    for path in (folder, *folder.parents[:2]):
        path.chmod(path.stat().st_mode | 0o055)


def _environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("TENURE")}
    path = os.pathsep.join(filter(None, [str(SOURCE), own.get("PYTHONPATH")]))
    return own | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
