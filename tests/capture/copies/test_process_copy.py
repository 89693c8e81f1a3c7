from __future__ import annotations

import gc
import os
import signal
import sys
import time
import weakref
from pathlib import Path

import pytest

from tenure.capture.copies.process_copy import fork_copy, start_in_child
from tenure.capture.guarding.collector import collector_rests

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a copy of a process needs fork")


class Ring:
    itself: object


def wait_for(path: Path) -> str:
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return path.read_text()


def leave(folder: Path, text: str) -> None:
    (folder / "part").write_text(text)
    (folder / "part").rename(folder / "said")


def test_a_copy_has_what_the_process_had_and_is_no_child_of_it(tmp_path: Path) -> None:
    state = ["before"]
    assert fork_copy(lambda: leave(tmp_path, f"{state} {os.getpid()}"))
    state[0] = "after"
    text, pid = wait_for(tmp_path / "said").rsplit(" ", 1)
    assert (text, int(pid) == os.getpid()) == ("['before']", False)
    with pytest.raises(ChildProcessError):
        os.waitpid(int(pid), os.WNOHANG)


def test_a_copy_is_made_where_python_no_longer_forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As 3.12.1 does once the main thread is over, before anything is torn down."""

    def refuse() -> int:
        raise RuntimeError("can't fork at interpreter shutdown")

    monkeypatch.setattr(os, "fork", refuse)
    assert fork_copy(lambda: leave(tmp_path, f"pid {os.getpid()}"))
    assert wait_for(tmp_path / "said") != f"pid {os.getpid()}"
    assert start_in_child(lambda: b"an answer", seconds=60)() == b"an answer"


def test_what_waits_for_the_collector_is_still_there_in_a_copy(tmp_path: Path) -> None:
    ring = Ring()
    ring.itself, reference = ring, weakref.ref(ring)
    before = gc.get_threshold()
    try:
        with collector_rests():  # as the recorder does, before the ring can be found
            del ring
            gc.set_threshold(1)
            assert fork_copy(lambda: leave(tmp_path, f"{reference() is not None} {gc.isenabled()}"))
    finally:
        gc.set_threshold(*before)
    assert wait_for(tmp_path / "said") == "True False"


def test_what_a_copy_writes_to_open_files_goes_nowhere(tmp_path: Path) -> None:
    with (tmp_path / "log.txt").open("w") as log:
        print("one", file=log, flush=True)

        def work() -> None:
            print("two", file=log, flush=True)
            leave(tmp_path, "wrote")

        fork_copy(work)
        assert wait_for(tmp_path / "said") == "wrote"
        print("three", file=log, flush=True)
    assert (tmp_path / "log.txt").read_text() == "one\nthree\n"


def test_a_finalizer_of_the_program_does_not_run_in_a_copy(tmp_path: Path) -> None:
    class Owner:
        pass

    held = [Owner()]
    finalizer = weakref.finalize(held[0], (tmp_path / "finalized").touch)

    def work() -> None:
        held.clear()
        leave(tmp_path, "cleared")

    fork_copy(work)
    assert wait_for(tmp_path / "said") == "cleared"
    assert not (tmp_path / "finalized").exists()
    assert finalizer.detach() is not None


@pytest.mark.slow
def test_a_copy_ends_by_itself_after_its_time(tmp_path: Path) -> None:
    def work() -> None:
        leave(tmp_path, str(os.getpid()))
        time.sleep(600)

    fork_copy(work, seconds=1)
    pid = int(wait_for(tmp_path / "said"))
    until = time.monotonic() + 60
    while time.monotonic() < until and is_running(pid):
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    """Whether it does anything: one that has ended and that nobody asked for does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_child_gives_back_bytes_and_one_that_crashes_none() -> None:
    assert start_in_child(lambda: b"answer" * 100_000, seconds=60)() == b"answer" * 100_000
    assert start_in_child(lambda: os.kill(os.getpid(), signal.SIGKILL) or b"", seconds=60)() == b""
