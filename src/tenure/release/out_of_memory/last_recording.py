"""What is written when memory has run out: a recording with one census, the allocator's snapshot, and who held what.

Written while the failed step is still there; `tenure diagnose` reads the folder like any recording.
"""

from __future__ import annotations

import contextlib
import json
import pickle
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from tenure.capture.monitor import Monitor
from tenure.capture.options import MonitorOptions
from tenure.model.units import format_bytes
from tenure.release.device_bytes import read_device_bytes
from tenure.release.outcome import Survivor
from tenure.release.storage_refs import StorageRefs, live_tensors
from tenure.release.verify import Verification

FILE = "out-of-memory.json"
SNAPSHOT = "allocator.pickle"
_COUNTERS = ("inactive_split_bytes", "allocated_bytes", "requested_bytes")
_MOST_HOLDERS = 20
_LEAST_BYTES = 64 * 1024
_FAILED_STEP = "the failed step, by the error's own traceback: freed once the error is handled"


@dataclass(frozen=True)
class Saving:
    """What a setting of the allocator would have saved at most: a bound from its counters, no replay."""

    device: str
    setting: str
    at_most_bytes: int
    why: str


def write_last_recording(folder: Path, error: BaseException) -> tuple[str, ...]:
    """Writes what can be written into a new folder and says what was; a failure of ours is said, not raised.

    Costs two censuses and the analysis of one: a second or two in a process of a million objects, and as much host
    memory. Device memory is not needed for it.
    """
    said: list[str] = []
    for what, write in (
        ("census", _write_census),
        ("holders", _write_holders),
        ("allocator snapshot", _write_snapshot),
    ):
        try:
            text = write(folder, error)
        except Exception as failure:  # the program has an error of its own to tell
            text = f"the {what} could not be written: {type(failure).__name__}: {failure}"
        if text:
            said.append(text)
    return tuple(said)


def _write_census(folder: Path, error: BaseException) -> str:
    monitor = Monitor(lambda: _made(folder), options=MonitorOptions(census_at=()))
    try:
        monitor.request_census()
    finally:
        monitor.close("out of memory")
    return f"wrote a census: tenure diagnose {folder}"


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write_holders(folder: Path, error: BaseException) -> str:
    holders = find_holders()
    devices = read_device_bytes()
    answer = {
        "format": 1,
        "error": f"{type(error).__name__}: {error}",
        "devices": {name: asdict(reading) for name, reading in devices.items()},
        "holders": [asdict(each) for each in holders],
        "settings": [asdict(each) for each in settings_that_would_save()],
    }
    (_made(folder) / FILE).write_text(json.dumps(answer, indent=1), encoding="utf-8")
    if not holders:
        return f"wrote {folder / FILE}: no tensor of {format_bytes(_LEAST_BYTES)} or more is held by Python"
    most = holders[0]
    drop = f"; dropping {', '.join(most.cut)} would free it" if most.cut else ""
    return f"wrote {folder / FILE}: most is held by {''.join(most.path)}, {format_bytes(most.bytes)}{drop}"


def find_holders() -> tuple[Survivor, ...]:
    """All tensors of some size by the reference that holds them, most bytes first; dropping its cut would free them."""
    refs = _refs_to_large_tensors()
    found = Verification().survivors(refs, collected=False)[:_MOST_HOLDERS] if refs.by_address else ()
    return tuple(map(_named_by_step, found))


def _named_by_step(holder: Survivor) -> Survivor:
    """What the failed step itself holds hangs on the traceback of the error that is being handled: no name leads
    there, and nothing has to be dropped, for the guard frees it."""
    if holder.path and holder.path[0].endswith("of traceback") and not holder.cut:
        return replace(holder, path=(_FAILED_STEP, *holder.path[1:]))
    return holder


def _refs_to_large_tensors() -> StorageRefs:
    """In a function of its own: a loop's variable would be one more owner."""
    refs = StorageRefs()
    for tensor in live_tensors():
        with contextlib.suppress(RuntimeError):
            if tensor.nbytes >= _LEAST_BYTES:
                refs.add(tensor, f"{type(tensor).__name__} {list(tensor.shape)}")
    return refs


def _write_snapshot(folder: Path, error: BaseException) -> str:
    if not torch.cuda.is_initialized():
        return ""
    with (_made(folder) / SNAPSHOT).open("wb") as file:
        pickle.dump(torch.cuda.memory._snapshot(), file)
    return f"wrote the allocator's snapshot: {folder / SNAPSHOT}"


def settings_that_would_save() -> tuple[Saving, ...]:
    """Per CUDA device in use, by its allocator's counters; nothing elsewhere."""
    if not torch.cuda.is_initialized():
        return ()
    found = []
    for index in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(index)
        found += savings_of(f"cuda:{index}", {key: int(stats.get(f"{key}.all.current", 0)) for key in _COUNTERS})
    return tuple(found)


def savings_of(device: str, counters: dict[str, int]) -> list[Saving]:
    """What settings would have saved at most, by one device's counters in bytes."""
    split, unused = counters["inactive_split_bytes"], counters["allocated_bytes"] - counters["requested_bytes"]
    found = []
    if split:
        why = "free, but in segments that live blocks share: pages that grow and shrink can use it elsewhere"
        found.append(Saving(device, "expandable_segments:True", split, why))
    if unused:
        why = "handed out beyond what was asked for: rounding, and blocks that were not split"
        found.append(Saving(device, "roundup_power2_divisions left unset", unused, why))
    return sorted(found, key=lambda each: -each.at_most_bytes)
