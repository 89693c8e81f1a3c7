from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from tenure.capture.counters import CounterReader
from tenure.capture.system.host_memory import read_cgroup_files
from tenure.capture.system.memory_room import read_memory_room

ROOM = {"host_total_bytes", "host_available_bytes"}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel says what is available on Linux only")
def test_the_machine_says_what_it_has_and_what_is_left() -> None:
    room = read_memory_room()

    assert set(room) >= ROOM
    assert 0 < room["host_available_bytes"] <= room["host_total_bytes"]


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel says what is available on Linux only")
def test_the_room_is_read_at_the_steps_of_the_schedule_only() -> None:
    reader = CounterReader()

    read = {step: ROOM <= set(reader.read_after_step(step, seconds=0.1)) for step in range(1, 13)}

    assert [step for step, with_room in read.items() if with_room] == [1, 2, 3, 4, 6, 8, 12]


def test_full_collections_are_counted() -> None:
    reader = CounterReader()
    before = reader.read()["full_collections"]
    gc.collect()

    assert reader.read()["full_collections"] == before + 1


def test_files_of_a_cgroup_that_were_not_used_lately_can_be_given_up(tmp_path: Path) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/job\n")
    (tmp_path / "groups" / "job").mkdir(parents=True)
    (tmp_path / "groups" / "job" / "memory.stat").write_text("anon 5\ninactive_file 4096\nactive_file 7\n")

    assert read_cgroup_files(cgroup_root=tmp_path / "groups", proc=tmp_path / "proc") == 4096
    assert read_cgroup_files(cgroup_root=tmp_path / "none", proc=tmp_path / "none") == 0
