"""Devices that a program is not to see, or cannot, told from the environment and from what torch and the driver say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

DRIVER = Path("/proc/driver/nvidia/gpus")
_HIDES_ALL = ("", "-1", "NoDevFiles")
"""The last is what Slurm sets for a job without devices."""
_NO_CONTAINER_DEVICES = ("", "void", "none")
_KINDS = (("an index", re.compile(r"\+?\d")), ("a GPU- name", re.compile("GPU-")), ("a MIG- name", re.compile("MIG-")))


def count_devices_of_driver(folder: Path = DRIVER) -> int | None:
    """How many NVIDIA devices the driver knows, hidden ones too; None where it does not say."""
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return None


def check_visible_devices(
    environment: Mapping[str, str], num_seen: int | None, num_present: int | None = None
) -> list[str]:
    """What hides devices, each a line. `num_seen` is how many torch sees, None where it has no CUDA or is not there;
    `num_present` how many the driver knows, None where it does not say.

    The list is read as CUDA and torch read it: it ends at the first entry that is none, and one that names a device
    twice names none.
    """
    text = environment.get("CUDA_VISIBLE_DEVICES")
    container = environment.get("NVIDIA_VISIBLE_DEVICES")
    if container in _NO_CONTAINER_DEVICES and not num_seen:
        return [f"NVIDIA_VISIBLE_DEVICES={container} gives this container no device"]
    if text is None:
        return []
    said = f"CUDA_VISIBLE_DEVICES={text}"
    if text.strip() in _HIDES_ALL:
        return [f"{said} hides all devices"]
    entries = [entry.strip() for entry in text.split(",")]
    known = _known_before_end(entries)
    if len({_device(entry) for entry in known}) < len(known):
        return [f"{said} names a device twice: CUDA then sees none"]
    if len(known) < len(entries):
        return [f"{said} {_why_it_ends(entries, len(known))}"]
    return _too_many(said, entries, num_seen, num_present) or _by_another_count(said, entries, num_seen, environment)


def _kind(entry: str) -> str:
    """What an entry is; "" for none."""
    return next((kind for kind, pattern in _KINDS if pattern.match(entry)), "")


def _device(entry: str) -> str:
    """The same text for the same device: of an index its number."""
    digits = re.match(r"\+?(\d+)", entry)
    return str(int(digits[1])) if digits else entry


def _known_before_end(entries: Sequence[str]) -> list[str]:
    kind = _kind(entries[0])
    end = next((at for at, entry in enumerate(entries) if not kind or _kind(entry) != kind), len(entries))
    return list(entries[:end])


def _why_it_ends(entries: Sequence[str], end: int) -> str:
    entry, rest = entries[end], f"so CUDA sees {end}" if end else "so CUDA sees none"
    if not _kind(entry):
        return f"ends at `{entry}`, which is no index and no name that begins with GPU- or MIG-, {rest}"
    return f"mixes indices and names: it ends at `{entry}`, {_kind(entry)} after {_kind(entries[0])}, {rest}"


def _too_many(said: str, entries: Sequence[str], num_seen: int | None, num_present: int | None) -> list[str]:
    """Devices that are named and are not there."""
    unprefixed = [entry for entry in entries if re.match(r"[0-9a-f]{8}-[0-9a-f]{4}-", entry)]
    if unprefixed:
        return [f"{said}: `{unprefixed[0]}` is read as index {_device(unprefixed[0])}; a UUID begins with GPU-"]
    indices = [int(_device(entry)) for entry in entries if _kind(entry) == "an index"]
    if num_present is not None and any(index >= num_present for index in indices):
        there = f"0 to {num_present - 1}" if num_present else "none"
        return [f"{said}: there is no device {max(indices)}, of {num_present} ({there}); the list ends before it"]
    if num_seen is None or num_seen >= len(entries):
        return []
    if _kind(entries[0]) == "a MIG- name" and num_seen == 1:
        return [f"{said} names {len(entries)} MIG instances: CUDA sees the first alone, start a process for each"]
    devices = "1 device" if len(entries) == 1 else f"{len(entries)} devices"
    return [f"{said} names {devices}, torch sees {num_seen}: the list ends at the first one that does not exist"]


def _by_another_count(
    said: str, entries: Sequence[str], num_seen: int | None, environment: Mapping[str, str]
) -> list[str]:
    """Indices count by speed unless they are told to count as nvidia-smi does."""
    numbered = all(entry.isdigit() for entry in entries)
    if not num_seen or not numbered or entries == ["0"] or environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID":
        return []
    return [
        f"{said} counts devices by speed, nvidia-smi by bus: set CUDA_DEVICE_ORDER=PCI_BUS_ID to mean the same ones"
    ]
