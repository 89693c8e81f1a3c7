from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

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


@pytest.mark.parametrize("name", ["cuda", "xpu"])
def test_a_device_that_the_program_has_started_says_what_it_has_left(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    started = SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 1, mem_get_info=lambda index: (5, 8))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(**{name: started}))

    room = read_memory_room()
    assert {key: room[key] for key in room if key.startswith("device")} == {
        "device_index": 1,
        "device_total_bytes": 8,
        "device_free_bytes": 5,
    }


def test_a_program_that_may_take_a_share_of_the_device_has_that_much(monkeypatch: pytest.MonkeyPatch) -> None:
    started = SimpleNamespace(
        is_initialized=lambda: True,
        current_device=lambda: 0,
        mem_get_info=lambda index: (500, 800),
        get_per_process_memory_fraction=lambda index: 0.25,
        get_device_properties=lambda index: SimpleNamespace(total_memory=1000),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=started))

    assert read_memory_room()["device_allowed_bytes"] == 250


def test_a_device_that_does_not_say_what_is_free_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(index: int) -> None:
        raise RuntimeError("The device doesn't support querying the available free memory")

    started = SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 0, mem_get_info=refuse)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(xpu=started))

    assert not any(key.startswith("device") for key in read_memory_room())


def test_full_collections_are_counted() -> None:
    reader = CounterReader()
    before = reader.read()["full_collections"]
    gc.collect()

    assert reader.read()["full_collections"] == before + 1


@pytest.mark.filterwarnings("ignore:.*Profiler clears events")
def test_a_profiler_that_records_is_noted_while_it_does() -> None:
    reader = CounterReader()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        during = reader.read()

    assert during["profiler_runs"] == 1
    assert "profiler_runs" not in reader.read()


def test_files_of_a_cgroup_that_were_not_used_lately_can_be_given_up(tmp_path: Path) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/job\n")
    (tmp_path / "groups" / "job").mkdir(parents=True)
    (tmp_path / "groups" / "job" / "memory.stat").write_text("anon 5\ninactive_file 4096\nactive_file 7\n")

    assert read_cgroup_files(cgroup_root=tmp_path / "groups", proc=tmp_path / "proc") == 4096
    assert read_cgroup_files(cgroup_root=tmp_path / "none", proc=tmp_path / "none") == 0
