"""What the doctor says of devices that are hidden or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.cli.doctor_devices import check_visible_devices, count_devices_of_driver

UUID = "12345678-1234-1234-1234-123456789abc"
NONE = " hides all devices"
TWICE = " names a device twice: CUDA then sees none"


def check(text: str | None, num_seen: int | None, num_present: int | None = None) -> list[str]:
    environment = {} if text is None else {"CUDA_VISIBLE_DEVICES": text}
    return [
        each.removeprefix(f"CUDA_VISIBLE_DEVICES={text}")
        for each in check_visible_devices(environment, num_seen, num_present)
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, ""),
        ("0", ""),
        ("3,1", ""),
        (f"GPU-{UUID}", ""),
        ("GPU-12,GPU-34", ""),
        (f"MIG-{UUID}", ""),
        ("MIG-GPU-12/1/0", ""),
        ("", NONE),
        (" ", NONE),
        ("-1", NONE),
        ("NoDevFiles", NONE),
        ("0,0", TWICE),
        ("0, 00", TWICE),
        ("GPU-12,GPU-12", TWICE),
        ("0,-1,1", " ends at `-1`, which is no index and no name that begins with GPU- or MIG-, so CUDA sees 1"),
        ("cuda:0", " ends at `cuda:0`, which is no index and no name that begins with GPU- or MIG-, so CUDA sees none"),
        ("0,", " ends at ``, which is no index and no name that begins with GPU- or MIG-, so CUDA sees 1"),
        ("0,GPU-12", " mixes indices and names: it ends at `GPU-12`, a GPU- name after an index, so CUDA sees 1"),
        ("MIG-12,0", " mixes indices and names: it ends at `0`, an index after a MIG- name, so CUDA sees 1"),
        (UUID, f": `{UUID}` is read as index 12345678; a UUID begins with GPU-"),
    ],
)
def test_what_the_list_alone_tells_is_said_without_any_device(text: str | None, said: str) -> None:
    assert check(text, None) == ([said] if said else [])


@pytest.mark.parametrize(
    ("text", "num_seen", "num_present", "said"),
    [
        ("0", 1, None, ""),
        ("0,1,7", 2, None, " names 3 devices, torch sees 2: the list ends at the first one that does not exist"),
        ("0,7,1", 1, 4, ": there is no device 7, of 4 (0 to 3); the list ends before it"),
        ("7", None, 2, ": there is no device 7, of 2 (0 to 1); the list ends before it"),
        ("0", 0, 0, ": there is no device 0, of 0 (none); the list ends before it"),
        ("GPU-12", 0, 2, " names 1 device, torch sees 0: the list ends at the first one that does not exist"),
        ("MIG-1,MIG-2", 1, 1, " names 2 MIG instances: CUDA sees the first alone, start a process for each"),
        (
            "1",
            1,
            None,
            " counts devices by speed, nvidia-smi by bus: set CUDA_DEVICE_ORDER=PCI_BUS_ID to mean the same ones",
        ),
    ],
)
def test_what_is_named_is_compared_with_what_is_there(
    text: str, num_seen: int | None, num_present: int | None, said: str
) -> None:
    assert check(text, num_seen, num_present) == ([said] if said else [])


def test_indices_that_count_as_nvidia_smi_does_are_right() -> None:
    environment = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert check_visible_devices(environment, 1) == []


def test_a_container_without_devices_is_told_where_torch_sees_none() -> None:
    said = ["NVIDIA_VISIBLE_DEVICES=void gives this container no device"]

    assert check_visible_devices({"NVIDIA_VISIBLE_DEVICES": "void"}, 0) == said
    assert check_visible_devices({"NVIDIA_VISIBLE_DEVICES": "void"}, 2) == []
    assert check_visible_devices({"NVIDIA_VISIBLE_DEVICES": "all"}, 0) == []


def test_the_driver_is_asked_for_all_its_devices(tmp_path: Path) -> None:
    (tmp_path / "0000:01:00.0").mkdir()
    (tmp_path / "0000:02:00.0").mkdir()

    assert count_devices_of_driver(tmp_path) == 2
    assert count_devices_of_driver(tmp_path / "missing") is None
