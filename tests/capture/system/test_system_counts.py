from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import threading
from multiprocessing import shared_memory

import pytest

from tenure.capture.heap.census import take_census
from tenure.capture.system.system_counts import read_system_counts

needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts need /proc")


class Waiter(threading.Thread):
    def __init__(self, gate: threading.Event) -> None:
        super().__init__(daemon=True)
        self.gate = gate

    def run(self) -> None:
        self.gate.wait()


def wait(gate: threading.Event) -> None:
    gate.wait()


def test_threads_are_counted_by_what_they_run() -> None:
    gate = threading.Event()
    threads = [
        Waiter(gate),
        threading.Thread(target=wait, args=(gate,), daemon=True),
        threading.Thread(target=functools.partial(wait, gate), daemon=True),
        threading.Thread(target=gate.wait, daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        counts = read_system_counts()
    finally:
        gate.set()
        for thread in threads:
            thread.join()

    here = {name: count for name, count in counts.items() if name.endswith(__file__)}
    run = "Waiter.run" if sys.version_info >= (3, 11) else "run"
    assert here == {f"thread {run} {__file__}": 1, f"thread wait {__file__}": 2}
    assert [count for name, count in counts.items() if "wait " in name and name.endswith("threading.py")] == [1]
    assert not [name for name in read_system_counts() if name.endswith(__file__)]


@needs_proc
def test_open_files_and_child_processes_are_counted() -> None:
    before = read_system_counts()
    with tempfile.TemporaryFile(), tempfile.TemporaryFile():
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        during = read_system_counts()
        child.communicate(b"\n")
    after = read_system_counts()

    names = ("files", "children")
    assert [during[name] - before[name] for name in names] == [3, 1]
    assert [after[name] - before[name] for name in names] == [0, 0]


@needs_proc
def test_a_census_has_the_counts() -> None:
    assert take_census(step=1, moment="request").counts["files"] > 0


@needs_proc
def test_shared_memory_is_counted_until_it_is_let_go() -> None:
    before = read_system_counts()["shared"]
    segments = [shared_memory.SharedMemory(create=True, size=4096) for _ in range(3)]
    during = read_system_counts()["shared"]
    for segment in segments:
        segment.close()
        segment.unlink()

    assert [during - before, read_system_counts()["shared"] - before] == [3, 0]


@needs_proc
def test_a_list_of_mappings_that_is_too_long_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.system.system_counts.MOST_MAPPINGS_BYTES", 10)

    assert "shared" not in read_system_counts()
