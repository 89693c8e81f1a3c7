"""CUDA segments that cannot be given back: free memory that lies beside a tensor, and who holds that tensor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import torch

from tenure.capture.tensors.storages import pointer_of
from tenure.release.held import who_holds_memory
from tenure.release.outcome import Survivor
from tenure.release.storage_refs import StorageRefs, live_tensors


def who_keeps_segments(devices: Collection[str]) -> tuple[Survivor, ...]:
    """Who holds the tensors of these devices that lie in segments with free memory beside them, most bytes first.

    Costs the allocator's snapshot, a look at all objects, and a census where there are such tensors; nothing on other
    devices than CUDA's.
    """
    indices = [torch.device(device).index or 0 for device in devices if device.startswith("cuda")]
    if not (indices and torch.cuda.is_initialized()):
        return ()
    ranges = shared_ranges(torch.cuda.memory_snapshot(), indices)
    return who_holds_memory(tuple(_refs_within(ranges))) if ranges else ()


def shared_ranges(segments: Iterable[Mapping[str, Any]], devices: Collection[int]) -> list[tuple[int, int]]:
    """Begin and end of each segment of these devices, of torch's memory snapshot, that is in use and not full."""
    return sorted(
        (segment["address"], segment["address"] + segment["total_size"])
        for segment in segments
        if segment["device"] in devices and 0 < segment["active_size"] < segment["total_size"]
    )


def _refs_within(ranges: list[tuple[int, int]]) -> StorageRefs:
    """In a function of its own: a loop's variable would be one more owner."""
    refs, begins = StorageRefs(), [begin for begin, _ in ranges]
    for tensor in live_tensors():
        if tensor.device.type != "cuda":
            continue
        address = pointer_of(tensor)
        at = bisect_right(begins, address) - 1
        if at >= 0 and address < ranges[at][1]:
            refs.add(tensor, f"a tensor {list(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}")
    return refs
