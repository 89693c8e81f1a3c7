"""Bytes of devices before and after, side by side."""

from __future__ import annotations

import pytest
import torch

from tenure.release.device_bytes import Reading, compare, read_device_bytes
from tenure.release.outcome import DeviceBytes

GONE = DeviceBytes("cuda:0", 32, 0, None, None, 40, 0)
COME = DeviceBytes("cuda:0", 0, 32, None, None, 0, 40)


def test_a_device_of_whose_memory_nothing_is_left_has_none_reserved() -> None:
    used = {"cuda:0": Reading(32, 40)}

    assert compare(used, {}, None) == (GONE,)
    assert compare({}, used, None) == (COME,)


def test_a_device_without_an_allocator_of_torchs_has_nothing_to_tell_of_it() -> None:
    (row,) = compare({"cpu": Reading(8)}, {}, None)

    assert (row.reserved_before_bytes, row.reserved_after_bytes) == (None, None)


def test_a_reading_starts_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("is_available", "device_count"):
        monkeypatch.setattr(torch.cuda, name, lambda name=name: bool(asked.append(name)))
    read_device_bytes()

    assert asked == []
