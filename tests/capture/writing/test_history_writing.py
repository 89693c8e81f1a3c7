"""Copies of the allocator's record in a recording, by a recorder whose device is a fake."""

from __future__ import annotations

import errno
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from capture.recorder import CensusLog, recording
from tenure.capture.sampling import allocator_history
from tenure.capture.writing import history_writing
from tenure.capture.writing.history_writing import write_history
from tenure.model.recording import HistoryEntry
from tenure.store.recording_file import open_recording

COPY = {"segments": [{"address": 64, "blocks": []}], "device_traces": [[{"action": "alloc"}] * 3, []]}


def make_step() -> Callable[[], None]:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()

    return step


class FakeAllocator:
    def __init__(self) -> None:
        self.begun: list[int] = []
        self.started = True
        self.observers: list[Callable[..., object]] = []
        self.free_to_begin = True

    def begin(self, backend: str, *, entries: int) -> bool:
        self.begun.append(entries)
        return self.free_to_begin

    def run_out(self) -> None:
        for told in self.observers:
            told(0, 1 << 20, 8 << 30, 5)


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> FakeAllocator:
    fake = FakeAllocator()
    stand_ins: dict[str, Any] = {
        "started_backend": lambda: "cuda" if fake.started else None,
        "begin": fake.begin,
        "copy_history": lambda backend: COPY,
        "call_when_out_of_memory": lambda backend, told: fake.observers.append(told) is None,
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(allocator_history, name, stand_in)
    return fake


def entries_in(folder: Path) -> list[tuple[int, str, str, int]]:
    found: tuple[HistoryEntry, ...] = open_recording(folder).histories
    assert all(pickle.loads((folder / entry.file).read_bytes()) == COPY for entry in found)
    return [(entry.step, entry.reason, entry.file, entry.num_events) for entry in found]


def test_a_copy_is_torch_s_own_snapshot_under_a_name_that_is_whole(tmp_path: Path, allocator: FakeAllocator) -> None:
    written = write_history(tmp_path, "trend", step=120)

    assert written is not None
    assert (written.file, written.num_events) == ("allocator-000120-trend.pickle", 3)
    assert [path.name for path in tmp_path.iterdir()] == [written.file]
    assert pickle.loads((tmp_path / written.file).read_bytes()) == COPY


def test_without_a_device_nothing_is_written(tmp_path: Path, allocator: FakeAllocator) -> None:
    allocator.started = False

    assert write_history(tmp_path, "trend") is None
    assert list(tmp_path.iterdir()) == []


def test_memory_that_runs_out_leaves_copies_and_one_census(tmp_path: Path, allocator: FakeAllocator) -> None:
    step, log = make_step(), CensusLog()
    with recording(tmp_path, log, census_at=(9,)):
        step()
        for _ in range(5):
            allocator.run_out()
        step()

    assert entries_in(tmp_path) == [
        (1, "out-of-memory", "allocator-000001-out-of-memory.pickle", 3),
        (1, "out-of-memory-2", "allocator-000001-out-of-memory-2.pickle", 3),
        (1, "out-of-memory-3", "allocator-000001-out-of-memory-3.pickle", 3),
    ]
    assert log.calls == [(1, "out-of-memory")]
    assert allocator.begun == []


def test_a_recorder_that_is_gone_is_not_asked(tmp_path: Path, allocator: FakeAllocator) -> None:
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,)):
        step()
    allocator.run_out()

    assert entries_in(tmp_path) == []


def test_recording_that_was_asked_for_begins_once_and_is_copied_at_the_end(
    tmp_path: Path, allocator: FakeAllocator
) -> None:
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,), history_entries=700) as monitor:
        step()
        step()
        assert monitor.write_history("trend") == "allocator-000002-trend.pickle"

    assert allocator.begun == [700]
    assert [entry[:2] for entry in entries_in(tmp_path)] == [(2, "trend"), (2, "exit")]
    texts = [note.text for note in open_recording(tmp_path).notes]
    assert texts == ["the allocator records allocations with their stacks from here on"]


def test_a_record_of_the_program_is_copied_and_not_said_to_be_ours(tmp_path: Path, allocator: FakeAllocator) -> None:
    allocator.free_to_begin = False
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,), history_entries=700):
        step()

    assert [entry[:2] for entry in entries_in(tmp_path)] == [(1, "exit")]
    assert open_recording(tmp_path).notes == ()


def test_a_record_that_was_asked_for_without_a_device_is_said_once(tmp_path: Path, allocator: FakeAllocator) -> None:
    allocator.started = False
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,), history_entries=700):
        step()
        step()

    assert entries_in(tmp_path) == []
    texts = [note.text for note in open_recording(tmp_path).notes]
    assert texts == ["no allocator's record: the program has started no device that keeps one"]


def test_a_device_that_starts_later_is_found(tmp_path: Path, allocator: FakeAllocator) -> None:
    allocator.started = False
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,)):
        step()
        assert allocator.observers == []
        allocator.started = True
        step()
        assert len(allocator.observers) == 1


def test_a_trend_and_a_wish_from_outside_bring_a_census_and_a_copy_of_the_same_moment(
    tmp_path: Path, allocator: FakeAllocator
) -> None:
    step, log = make_step(), CensusLog()
    with recording(tmp_path, log, census_at=(9,)) as monitor:
        step()
        monitor._recorder._samples.is_closer_look_due = lambda step, may_be_paid: step == 2  # type: ignore[method-assign]
        step()
        monitor._recorder._samples.take_request = lambda: monitor.step == 3  # type: ignore[method-assign]
        step()
        step()

    assert [entry[:2] for entry in entries_in(tmp_path)] == [(2, "trend"), (3, "request")]
    assert log.calls == [(2, "step-end"), (2, "forward-entry"), (3, "request")]


def test_a_copy_that_cannot_be_written_is_noted_and_recording_goes_on(
    tmp_path: Path, allocator: FakeAllocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    step = make_step()
    monkeypatch.setattr(history_writing, "write_history", refuse)
    with recording(tmp_path, CensusLog(), census_at=(9,)) as monitor:
        step()
        assert monitor.write_history("trend") is None
        step()

    opened = open_recording(tmp_path)
    assert [each.step for each in opened.steps] == [1, 2]
    assert [note.text for note in opened.notes] == [
        "the allocator's record was not written: [Errno 28] No space left on device"
    ]
