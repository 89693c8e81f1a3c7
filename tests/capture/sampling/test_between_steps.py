"""Samples and requests of a whole recorder, its thread included."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from capture.recorder import CensusLog, recording
from capture.sampling.test_device import Driver, NVMLError
from tenure.capture.guarding.own_threads import OWN_THREADS
from tenure.capture.sampling import between_steps
from tenure.store.format import CENSUS_WANTED_FILE
from tenure.store.recording_file import open_recording

WAIT = 30.0


@pytest.fixture(autouse=True)
def looks_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.sampling.sampler.FLUSH_SECONDS", 0.001)


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def make_step() -> Callable[[], None]:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()

    return step


def test_a_census_is_asked_for_by_a_file(tmp_path: Path) -> None:
    step, log, wanted = make_step(), CensusLog(), tmp_path / CENSUS_WANTED_FILE
    with recording(tmp_path, log, census_at=(9,)) as monitor:
        step()
        wanted.touch()
        wait_until(lambda: not wanted.exists() and monitor._recorder._samples._sampler.census_wanted)
        step()
        step()

    assert log.calls == [(2, "request")]


def test_the_thread_comes_with_the_first_step_and_goes_with_the_recording(tmp_path: Path) -> None:
    step = make_step()
    with recording(tmp_path, CensusLog()):
        before = len(OWN_THREADS)
        step()
        wait_until(lambda: len(OWN_THREADS) == 1)

    assert (before, len(OWN_THREADS)) == (0, 0)


def test_a_step_reaches_the_disk_though_no_other_follows(tmp_path: Path) -> None:
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,)):
        step()
        tail = tmp_path / "steps.jsonl"
        wait_until(lambda: tail.exists() and tail.stat().st_size > 0)

        assert [each.step for each in open_recording(tmp_path).steps] == [1]


def test_a_reading_that_fails_is_noted_and_steps_are_recorded_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, now: float) -> dict[str, int]:
        raise ValueError("planted")

    monkeypatch.setattr(between_steps.HostReader, "read", fail)
    step = make_step()
    with recording(tmp_path, CensusLog()) as monitor:
        step()
        wait_until(lambda: monitor._recorder._samples._sampler._turn is None)
        step()
        assert monitor.is_recording

    opened = open_recording(tmp_path)
    assert [each.step for each in opened.steps] == [1, 2]
    assert [(note.level, note.text) for note in opened.notes] == [
        ("failure", "no samples any more: ValueError: planted")
    ]


@pytest.mark.parametrize(("is_there", "why"), [(False, "the package nvidia-ml-py is not there"), (True, "GPU is lost")])
def test_a_driver_that_is_missing_or_fails_midway_is_told_in_the_recording(
    is_there: bool, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = Driver() if is_there else None
    monkeypatch.setattr("tenure.capture.counters.find_device_uuid", lambda: "GPU-1")
    monkeypatch.setattr("tenure.capture.sampling.device._import_nvml", lambda: driver)
    monkeypatch.setattr("tenure.capture.sampling.sampler.SAMPLE_SECONDS", 0.001)
    monkeypatch.setattr("tenure.capture.sampling.sampler.SHARE", 1.0)
    step = make_step()
    with recording(tmp_path, CensusLog()) as monitor:
        step()
        reader = monitor._recorder._samples._device
        if driver is not None:
            wait_until(lambda: "nvmlDeviceGetComputeRunningProcesses" in driver.asked)
            driver.answers["nvmlDeviceGetMemoryInfo"] = NVMLError("GPU is lost")
        wait_until(lambda: reader.gave_up)
        step()
    opened = open_recording(tmp_path)

    assert [note.text for note in opened.notes] == [f"not counted: what the driver says of the device ({why})"]
    assert ("device_used_bytes" in opened.samples[0].counters, len(opened.steps)) == (is_there, 2)
