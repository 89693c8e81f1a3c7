"""`tenure.caches()`: what torch and Python keep outside of the program's own objects; `tenure.clear_caches()`.

Each is listed with what can be known of its size and what clearing it costs; nothing is cleared that was not named.
"""

from __future__ import annotations

import gc
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch

from tenure.capture.counters import counts_pinned_in_use
from tenure.capture.heap.frames import locals_of
from tenure.capture.heap.native_owners import is_autocast_caching
from tenure.errors import UsageError
from tenure.model.units import format_bytes
from tenure.release.caching.shared_segments import who_keeps_segments
from tenure.release.device_bytes import compare, read_device_bytes
from tenure.release.held import who_holds_memory
from tenure.release.out_of_memory.failed_step import clear_failed_frames
from tenure.release.outcome import Outcome, Survivor
from tenure.release.storage_refs import StorageRef, StorageRefs

_LAST_ERROR = ("last_exc", "last_value", "last_type", "last_traceback")
_OF_THE_DEVICE = ("cufft", "cublas", "pinned", "allocator")
_AFTER_COLLECTION = ("pinned", "allocator")
"""Memory goes there that the others let go of, and what a collection frees."""
_NOT_NOW = "a stream is being captured into a CUDA graph"


@dataclass(frozen=True)
class LibraryCache:
    """One cache. `num_entries` and `bytes` are None where nothing tells them; `clearing` says what it costs."""

    name: str
    what: str
    num_entries: int | None
    bytes: int | None
    clearing: str

    def __str__(self) -> str:
        entries = "? entries" if self.num_entries is None else f"{self.num_entries:,} entries"
        size = "size unknown" if self.bytes is None else format_bytes(self.bytes)
        return f"{self.name}: {entries}, {size}; {self.what}"


def caches() -> tuple[LibraryCache, ...]:
    """The caches that this process has now. Starts no device and imports nothing; some microseconds each."""
    return tuple(found for name in _CACHES for found in [_CACHES[name][0]()] if found is not None)


def clear_caches(*names: str) -> Outcome:
    """Clears the caches named, and says what each device's memory was before and after, and what survived: tensors of
    the last error that somebody else holds, tensors that keep free memory of the allocator's from going.

    The order of the names does not matter: what the others let go of, and a collection, is in what `pinned` and
    `allocator` give back. Without a name nothing is cleared: a plan, a kernel or a compiled graph is made again when it
    is next needed, which for `dynamo` means compiling again. While a stream is captured into a CUDA graph caches of the
    device are left as they are. Raises UsageError for a name that no cache has, before any is cleared.
    """
    unknown = [name for name in names if name not in _CACHES]
    if unknown or not names:
        asked = f"there is no cache {', '.join(map(str, unknown))}" if unknown else "no cache was named"
        raise UsageError(f"clear_caches: {asked}; there are {', '.join(_CACHES)}")
    started = time.perf_counter()
    before = read_device_bytes()
    lost = tuple(_refs_of_last_error()) if "last_error" in names else ()
    asked_for = tuple(dict.fromkeys(names))
    told = {name: _clear(name) for name in asked_for if name not in _AFTER_COLLECTION}
    gc.collect()
    told |= {name: _clear(name) for name in _AFTER_COLLECTION if name in asked_for}
    return Outcome(
        what=f"cleared {', '.join(asked_for)}",
        devices=compare(before, read_device_bytes(), None),
        survivors=_survivors({name for name in asked_for if told[name].was_cleared}, lost),
        did=tuple(told[name].text for name in asked_for if told[name].was_cleared),
        kept=tuple(told[name].text for name in asked_for if not told[name].was_cleared),
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True)
class _Told:
    text: str
    was_cleared: bool


def _clear(name: str) -> _Told:
    look, clear = _CACHES[name]
    found = look()
    if found is None:
        return _Told(f"{name}: not in use in this process", was_cleared=False)
    reason = _NOT_NOW if name in _OF_THE_DEVICE and torch.cuda.is_current_stream_capturing() else clear()
    return _Told(f"{name}: {reason}" if reason else _cleared_text(found, look()), was_cleared=not reason)


def _survivors(names: Collection[str], lost: tuple[StorageRef, ...]) -> tuple[Survivor, ...]:
    kept = who_keeps_segments(sorted(read_device_bytes())) if "allocator" in names else ()
    return (*who_holds_memory(lost, collected=True), *kept)


def _cleared_text(before: LibraryCache, after: LibraryCache | None) -> str:
    num_after = after.num_entries if after is not None else 0
    size_after = after.bytes if after is not None else 0
    text = f"{before.name}: cleared"
    if before.num_entries is not None:
        text += f", {before.num_entries:,} -> {'?' if num_after is None else num_after} entries"
    if before.bytes is not None:
        text += f", {format_bytes(before.bytes)} -> {'?' if size_after is None else format_bytes(size_after)}"
    return text


def _autocast() -> LibraryCache | None:
    if not is_autocast_caching():
        return None
    what = "weights cast to half precision, kept until the outermost autocast region of this thread ends"
    return LibraryCache("autocast", what, None, None, "weights are cast again at their next use")


def _clear_autocast() -> str:
    torch.clear_autocast_cache()
    return ""


def _cuda_is_used() -> bool:
    """`is_available()` would start the driver: no forked child could use the device then."""
    return bool(torch.cuda.is_initialized())


def _cufft() -> LibraryCache | None:
    if not _cuda_is_used():
        return None
    plans = [torch.backends.cuda.cufft_plan_cache[index] for index in range(torch.cuda.device_count())]
    num_plans, most = sum(int(each.size) for each in plans), max(int(each.max_size) for each in plans)
    what = f"plans with cuFFT's own tables, one per size of transform, outside of torch's allocator, up to {most:,}"
    return LibraryCache("cufft", what, num_plans, None, "plans are made again")


def _clear_cufft() -> str:
    for index in range(torch.cuda.device_count()):
        torch.backends.cuda.cufft_plan_cache[index].clear()
    return ""


def _cublas() -> LibraryCache | None:
    if not _cuda_is_used() or not hasattr(torch._C, "_cuda_clearCublasWorkspaces"):
        return None
    what = "a workspace per handle and stream, from torch's allocator"
    return LibraryCache("cublas", what, None, None, "workspaces are allocated again")


def _clear_cublas() -> str:
    torch._C._cuda_clearCublasWorkspaces()
    return ""


def _pinned() -> LibraryCache | None:
    read = getattr(torch.cuda, "host_memory_stats_as_nested_dict", None)
    if not _cuda_is_used() or read is None:
        return None
    stats = read()
    num_blocks = _unused_of(stats, "allocations", "active_requests")
    size = _unused_of(stats, "allocated_bytes", "active_bytes")
    return LibraryCache("pinned", "pinned host memory that no tensor uses", num_blocks, size, "pinned again, slowly")


def _unused_of(stats: Mapping[str, Any], owned: str, used: str) -> int | None:
    """What torch's allocator of pinned memory owns beyond what is in use; None where this torch does not count both,
    or counts wrong what is in use, unless it owns nothing at all."""
    num_owned, num_used = (stats.get(key, {}).get("current") for key in (owned, used))
    if num_owned == 0:
        return 0
    if num_owned is None or num_used is None or not counts_pinned_in_use(str(torch.__version__)):
        return None
    return max(0, int(num_owned) - int(num_used))


def _clear_pinned() -> str:
    clear = getattr(torch._C, "_host_emptyCache", None)
    if clear is None:
        return f"torch {torch.__version__} has no call for it"
    clear()
    return ""


def _allocator() -> LibraryCache | None:
    if not _cuda_is_used():
        return None
    devices = range(torch.cuda.device_count())
    size = sum(torch.cuda.memory_reserved(index) - torch.cuda.memory_allocated(index) for index in devices)
    what = "device memory that torch took and no tensor uses; what shares a segment with tensors stays"
    return LibraryCache("allocator", what, None, size, "memory is asked of the driver again; see TrimPolicy")


def _clear_allocator() -> str:
    torch.cuda.empty_cache()
    return ""


def _dynamo() -> LibraryCache | None:
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is None:
        return None
    guards = sys.modules.get("torch._dynamo.utils")
    counters: Any = getattr(guards, "counters", {})
    compiled = int(counters.get("stats", {}).get("unique_graphs", 0)) if counters else None
    what = "compiled code with its guards; constants and example inputs may hang on it"
    return LibraryCache("dynamo", what, compiled, None, "everything compiled is compiled again")


def _clear_dynamo() -> str:
    dynamo: Any = sys.modules["torch._dynamo"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports what warns of itself
        dynamo.reset()
    return ""


def _last_error() -> LibraryCache | None:
    if not any(hasattr(sys, name) for name in _LAST_ERROR):
        return None
    num_frames = sum(1 for _ in _frames_of_last_error())
    size = sum(each.bytes for each in _refs_of_last_error())
    what = "the last uncaught error (sys.last_exc), with the variables of the functions that it came through"
    return LibraryCache("last_error", what, num_frames, size, "pdb.pm() has nothing to look at")


def _refs_of_last_error() -> StorageRefs:
    refs = StorageRefs()
    for frame in _frames_of_last_error():
        for name, value in locals_of(frame):
            if isinstance(value, torch.Tensor):
                refs.add(value, f"`{name}` in {frame.f_code.co_name}")
    return refs


def _frames_of_last_error() -> Iterator[Any]:
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    trace: TracebackType | None = getattr(sys, "last_traceback", None) or getattr(error, "__traceback__", None)
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _clear_last_error() -> str:
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is not None:
        clear_failed_frames(error)
    for name in _LAST_ERROR:
        if hasattr(sys, name):
            delattr(sys, name)
    return ""


_CACHES: dict[str, tuple[Callable[[], LibraryCache | None], Callable[[], str]]] = {
    "autocast": (_autocast, _clear_autocast),
    "cufft": (_cufft, _clear_cufft),
    "cublas": (_cublas, _clear_cublas),
    "pinned": (_pinned, _clear_pinned),
    "allocator": (_allocator, _clear_allocator),
    "dynamo": (_dynamo, _clear_dynamo),
    "last_error": (_last_error, _clear_last_error),
}
