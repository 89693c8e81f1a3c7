"""Bytes on each device, read the same way before and after; and the allocators' caches given back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch

from tenure.capture.memory import count_tensors
from tenure.release.commit import ONE_AT_A_TIME
from tenure.release.outcome import DeviceBytes
from tenure.release.storage_refs import StorageRef


@dataclass(frozen=True)
class Reading:
    """Bytes in tensors on one device, and what its allocator keeps; None where there is no such allocator."""

    bytes: int
    reserved_bytes: int | None = None


_NONE = Reading(0)


def read_device_bytes() -> dict[str, Reading]:
    """What lies on each device now: CUDA's allocator is asked, elsewhere the tensors that Python sees are counted.

    Costs one look at every object that the collector knows, about a third of a `gc.collect()`; starts no CUDA
    context and waits for no kernel.
    """
    with ONE_AT_A_TIME:
        found = {each.device: Reading(each.bytes) for each in count_tensors(torch)}
    if torch.cuda.is_initialized():  # `is_available()` would start the driver: no forked child could use it then
        for index in range(torch.cuda.device_count()):
            reserved = torch.cuda.memory_reserved(index)
            if reserved or f"cuda:{index}" in found:
                found[f"cuda:{index}"] = Reading(torch.cuda.memory_allocated(index), reserved)
    return found


def give_back_cache(devices: Iterable[str]) -> None:
    """Have the allocators of these devices give back what no tensor uses. Waits for the device, as the driver does;
    on CUDA not while a stream is captured into a graph, which would fail."""
    kinds = {device.partition(":")[0] for device in devices}
    if "cuda" in kinds and torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing():
        torch.cuda.empty_cache()
    for kind in ("mps", "xpu"):
        if kind in kinds:
            getattr(torch, kind).empty_cache()


def compare(
    before: Mapping[str, Reading], after: Mapping[str, Reading], expected: Iterable[StorageRef] | None
) -> tuple[DeviceBytes, ...]:
    """One row per device that something was expected of, or whose bytes changed; `expected` are asked now, None where
    nobody could know beforehand what would come back."""
    names = {*before, *after}
    changed = {name for name in names if before.get(name, _NONE) != after.get(name, _NONE)}
    return _rows(before, after, expected, changed)


def compare_storages(
    before: Iterable[StorageRef], after: Iterable[StorageRef], expected: Iterable[StorageRef]
) -> tuple[DeviceBytes, ...]:
    """One row per device of what somebody kept before and keeps now; `expected` are asked now whether they are gone.
    Looks at nothing else."""
    readings = _add_up(before), _add_up(after)
    return _rows(*readings, expected, {*readings[0], *readings[1]})


def _rows(
    before: Mapping[str, Reading],
    after: Mapping[str, Reading],
    expected: Iterable[StorageRef] | None,
    devices: set[str],
) -> tuple[DeviceBytes, ...]:
    wanted: dict[str, int] = {}
    freed: dict[str, int] = {}
    unknown = None if expected is None else 0
    for storage in expected or ():
        wanted[storage.device] = wanted.get(storage.device, 0) + storage.bytes
        freed[storage.device] = freed.get(storage.device, 0) + (0 if storage.is_alive else storage.bytes)
    pairs = {name: _read_both(name, before, after) for name in sorted({*wanted, *devices})}
    return tuple(
        DeviceBytes(
            name,
            first.bytes,
            last.bytes,
            wanted.get(name, unknown),
            freed.get(name, unknown),
            first.reserved_bytes,
            last.reserved_bytes,
        )
        for name, (first, last) in pairs.items()
    )


def _read_both(name: str, before: Mapping[str, Reading], after: Mapping[str, Reading]) -> tuple[Reading, Reading]:
    """A device is not read while its allocator keeps nothing of it: then that is 0 bytes, where the other reading has a
    figure."""
    found = before.get(name), after.get(name)
    has_allocator = any(each is not None and each.reserved_bytes is not None for each in found)
    absent = Reading(0, 0) if has_allocator else _NONE
    return found[0] or absent, found[1] or absent


def _add_up(storages: Iterable[StorageRef]) -> dict[str, Reading]:
    found: dict[str, Reading] = {}
    for storage in storages:
        found[storage.device] = Reading(found.get(storage.device, _NONE).bytes + storage.bytes)
    return found
