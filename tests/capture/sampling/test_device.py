"""What is made of NVML's answers and failures, with a driver that says what the test wants."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from tenure.capture.sampling.device import DeviceReader


class NVMLError(Exception):
    pass


class NVMLError_NotSupported(NVMLError):  # noqa: N801, N818 - pynvml's name
    pass


class Driver:
    """A stand-in for the module pynvml; `answers` that are exceptions are raised."""

    NVMLError = NVMLError
    NVML_TEMPERATURE_GPU = 0

    def __init__(self, **answers: Any) -> None:
        processes = [SimpleNamespace(pid=os.getpid(), usedGpuMemory=300), SimpleNamespace(pid=1, usedGpuMemory=9)]
        self.answers = {
            "nvmlInit": None,
            "nvmlDeviceGetHandleByUUID": "handle",
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=500, total=1000),
            "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=87, memory=3),
            "nvmlDeviceGetTemperature": 61,
            "nvmlDeviceGetComputeRunningProcesses": processes,
        } | answers
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def answer(*args: object) -> Any:
            self.asked.append(name)
            found = self.answers[name]
            if isinstance(found, Exception):
                raise found
            return found

        return answer


ALL = {
    "device_used_bytes": 500,
    "device_total_bytes": 1000,
    "device_busy_percent": 87,
    "device_celsius": 61,
    "device_process_bytes": 300,
}


def reader(driver: Driver | None) -> tuple[DeviceReader, list[str]]:
    said: list[str] = []
    found = DeviceReader(said.append, load=lambda: driver)
    found.uuid = "GPU-1"
    return found, said


def test_the_driver_is_not_asked_before_the_program_has_started_a_device() -> None:
    driver = Driver()
    device, said = reader(driver)
    device.uuid = None

    assert (device.read(), driver.asked, said) == ({}, [], [])


def test_all_that_the_driver_counts() -> None:
    device, said = reader(Driver())

    assert [device.read(), device.read(), said] == [ALL, ALL, []]


@pytest.mark.parametrize(
    ("driver", "why"),
    [
        (None, "the package nvidia-ml-py is not there"),
        (Driver(nvmlInit=NVMLError("Driver Not Loaded")), "Driver Not Loaded"),
        (Driver(nvmlInit=OSError("libnvidia-ml.so.1: no such file")), "libnvidia-ml.so.1: no such file"),
        (Driver(nvmlDeviceGetHandleByUUID=NVMLError("Not Found")), "Not Found"),
    ],
)
def test_a_missing_driver_is_said_once(driver: Driver | None, why: str) -> None:
    device, said = reader(driver)

    assert [device.read(), device.read()] == [{}, {}]
    assert said == [f"not counted: what the driver says of the device ({why})"]


def test_a_driver_that_fails_midway_is_not_asked_again() -> None:
    driver = Driver()
    device, said = reader(driver)
    first = device.read()
    driver.answers["nvmlDeviceGetUtilizationRates"] = NVMLError("GPU is lost")
    second, asked = device.read(), len(driver.asked)

    assert (first, second, device.read()) == (ALL, {"device_used_bytes": 500, "device_total_bytes": 1000}, {})
    assert len(driver.asked) == asked
    assert said == ["not counted: what the driver says of the device (GPU is lost)"]


def test_one_quantity_that_a_device_lacks_costs_that_one_alone() -> None:
    device, said = reader(Driver(nvmlDeviceGetTemperature=NVMLError_NotSupported("Not Supported")))

    expected = {name: value for name, value in ALL.items() if name != "device_celsius"}
    assert [device.read(), device.read()] == [expected, expected]
    assert said == ["NVML does not tell this device's temperature: Not Supported"]


@pytest.mark.parametrize("listed", [[], [SimpleNamespace(pid=os.getpid(), usedGpuMemory=None)]])
def test_in_a_container_the_process_may_be_unknown_to_the_driver(listed: list[object]) -> None:
    device, said = reader(Driver(nvmlDeviceGetComputeRunningProcesses=listed))

    expected = {name: value for name, value in ALL.items() if name != "device_process_bytes"}
    assert [device.read(), device.read()] == [expected, expected]
    assert said == ["NVML does not name this process's share of the device, as in containers"]
