from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tenure.capture.heap.census import take_census
from tenure.capture.system.child_memory import ChildReader
from tenure.model.heap import ChildMemory

needs_fork = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are counted on Linux")
MIB = 1 << 20
ROLLUP = """55d8c0a5e000-7ffd4b9f6000 ---p 00000000 00:00 0                          [rollup]
Rss:              227400 kB
Pss:               86300 kB
Shared_Clean:      18900 kB
Shared_Dirty:     191800 kB
Private_Clean:         4 kB
Private_Dirty:     16600 kB
"""


def write_over_and_wait(line: Connection, items: list[bytearray]) -> None:
    for command in iter(line.recv, "end"):
        for item in items[: int(command)]:
            item[::4096] = b"1" * len(item[::4096])
        line.send("done")


@needs_fork
def test_a_worker_that_writes_to_shared_pages_makes_them_private() -> None:
    items = [bytearray(b"0" * MIB) for _ in range(8)]
    here, there = multiprocessing.get_context("fork").Pipe()
    worker = multiprocessing.get_context("fork").Process(target=write_over_and_wait, args=(there, items))
    worker.start()
    try:
        (before,) = [child for child in ask(here, 0) if child.pid == worker.pid]
        (after,) = [child for child in ask(here, 8) if child.pid == worker.pid]
        assert [child.pid for child in take_census(step=1, moment="request").children] == [worker.pid]
    finally:
        here.send("end")
        worker.join()

    assert after.private_bytes - before.private_bytes >= 8 * MIB
    assert before.shared_bytes - after.shared_bytes >= 8 * MIB
    assert ChildReader().read() == ()


def ask(line: Connection, count: int) -> tuple[ChildMemory, ...]:
    line.send(str(count))
    assert line.recv() == "done"
    return ChildReader().read()


def test_a_system_without_the_file_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.system.child_memory._children", lambda: [7])

    assert ChildReader().read(str(tmp_path)) == ()


@needs_fork
def test_what_the_kernel_writes_is_read_and_few_children_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in range(9):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "smaps_rollup").write_text(ROLLUP)
    monkeypatch.setattr("tenure.capture.system.child_memory._children", lambda: list(range(9)))

    found = ChildReader().read(str(tmp_path))

    assert found[0] == ChildMemory(0, 227400 << 10, 210700 << 10, 16604 << 10)
    assert len(found) <= 4


@needs_fork
def test_children_that_cannot_be_asked_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        @property
        def pid(self) -> int:
            raise ValueError("process object is closed")

    monkeypatch.setattr("multiprocessing.process._children", {Closed()})

    assert ChildReader().read() == ()


@needs_fork
def test_who_was_slow_once_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "smaps_rollup").write_text(ROLLUP)
    monkeypatch.setattr("tenure.capture.system.child_memory._children", lambda: [7])
    monkeypatch.setattr("tenure.capture.system.child_memory.LONGEST_SECONDS", -1.0)
    reader = ChildReader()

    assert [len(reader.read(str(tmp_path))) for _ in range(2)] == [1, 0]
