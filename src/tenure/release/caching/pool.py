"""`tenure.TensorPool`: buffers used again by shape, dtype, device and stream, within a bound of bytes.

A buffer that is given back is kept only if nobody else holds it: a view, a graph that saved it or a second name would
see its next user's values. So would a copy of pinned memory that the device has not made yet: such a buffer waits
until it has.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from tenure.capture.tensors.storages import storage_id_of
from tenure.errors import UsageError
from tenure.model.units import format_bytes, parse_bytes
from tenure.release.device_bytes import compare_storages
from tenure.release.held import who_holds_memory
from tenure.release.outcome import ByDevice, DeviceBytes, Survivor
from tenure.release.steps.reference_counts import OF_PARAMETER, OF_VARIABLE
from tenure.release.storage_refs import StorageRef, StorageRefs

_Key = tuple[tuple[int, ...], torch.dtype, torch.device, bool, int]
_MOST_REMEMBERED = 16
"""Buffers refused last, whose holders can be asked for."""
_Kept = tuple[_Key, torch.Tensor, tuple[torch.cuda.Event, ...]]
"""A buffer, and what the device has to have reached before somebody else may write into it."""
_COUNT_STORAGE_USES = getattr(torch._C, "_storage_Use_Count", None)


@dataclass(frozen=True)
class PoolOutcome(ByDevice):
    """What a pool has done so far, or what `clear` gave up.

    `num_refused` buffers were given back while somebody else still held them, so they were let go instead of used
    again; `survivors` says who holds the last of them. `num_evicted` made room for others. Of `clear`, `devices` has
    the pool's own bytes before and after, `freed_bytes` is what of them is gone, and `survivors` who holds the rest.
    """

    num_kept: int = 0
    kept_bytes: int = 0
    num_reused: int = 0
    num_made: int = 0
    num_evicted: int = 0
    num_refused: int = 0
    devices: tuple[DeviceBytes, ...] = ()
    _let_go: tuple[StorageRef, ...] = field(default=(), compare=False, repr=False)

    @property
    def freed_bytes(self) -> int:
        """What came back of the buffers that `clear` gave up."""
        return sum(device.freed_bytes or 0 for device in self.devices)

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Who holds the buffers that were refused last, or that `clear` gave up, with path and cut, as far as they are
        alive; () if none is.

        Costs a census, one to two collections, where one is alive, and nothing elsewhere.
        """
        return who_holds_memory(self._let_go)

    def __str__(self) -> str:
        return (
            f"{self.num_kept} buffers kept, {format_bytes(self.kept_bytes)}; {self.num_reused} times one was reused, "
            f"{self.num_made} were made, {self.num_evicted} evicted, {self.num_refused} refused (still held elsewhere)"
        )


class TensorPool:
    """`with pool.borrow((32, 1024), device="cuda") as buffer:`, or `take` and `give_back`. Safe between threads.

    At most `most_bytes` are kept unused, the buffer unused longest goes first. A buffer's values are whatever was
    there before. On CUDA a buffer is used again only on the stream it was given back on, and a pinned one only when
    the work is done that the current streams had when it was given back; until then another is made. While a stream
    is captured into a CUDA graph nothing is kept, nor handed out a second time.
    """

    def __init__(self, most_bytes: int | str = "256MiB") -> None:
        try:
            self.most_bytes = parse_bytes(most_bytes)
        except ValueError as error:
            raise UsageError(f"TensorPool: {error}") from None
        self._lock = threading.Lock()
        self._free: OrderedDict[int, _Kept] = OrderedDict()
        self._by_key: dict[_Key, list[int]] = {}
        self._number = 0
        self._kept_bytes = 0
        self._refused: deque[StorageRef] = deque(maxlen=_MOST_REMEMBERED)
        self._counts = {"reused": 0, "made": 0, "evicted": 0, "refused": 0}

    @property
    def outcome(self) -> PoolOutcome:
        """What is kept now, and what was done since the pool was made."""
        with self._lock:
            return PoolOutcome(
                len(self._free),
                self._kept_bytes,
                num_reused=self._counts["reused"],
                num_made=self._counts["made"],
                num_evicted=self._counts["evicted"],
                num_refused=self._counts["refused"],
                _let_go=tuple(self._refused),
            )

    def take(
        self,
        shape: Sequence[int],
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str = "cpu",
        pinned: bool = False,
    ) -> torch.Tensor:
        """A buffer of this shape, used before or new; its values are arbitrary. Give it back, or let it go.

        Waits for no device. Starts CUDA for a pinned buffer, as pinning does.
        """
        key = _key(shape, dtype, device, pinned)
        if not _is_capturing(key):
            with self._lock:
                buffer = self._take_kept(key)
            if buffer is not None:
                return buffer
        with torch.inference_mode(False):
            buffer = torch.empty(key[0], dtype=key[1], device=key[2], pin_memory=pinned)
        with self._lock:
            self._counts["made"] += 1
        return buffer

    def _take_kept(self, key: _Key) -> torch.Tensor | None:
        """The one of this key given back last; of pinned ones the first that no copy is under way from."""
        numbers = self._by_key.get(key, [])
        for number in numbers if key[3] else numbers[-1:]:
            _, buffer, events = self._free[number]
            if all(event.query() for event in events):
                self._take_out(number)
                self._counts["reused"] += 1
                return buffer
        return None

    def give_back(self, buffer: torch.Tensor) -> bool:
        """Keep a buffer for the next `take`; whether it was kept.

        It is not where somebody else still holds it, its memory or a view of it, where it is a view itself, or where
        it is larger than the whole pool. The caller's own name for it must not be used any more. Raises UsageError for
        what is no tensor.
        """
        if not isinstance(buffer, torch.Tensor):
            raise UsageError(f"give_back() takes a tensor; a {type(buffer).__name__} was given")
        num_others = sys.getrefcount(buffer) - OF_PARAMETER
        return self._keep(buffer) if _is_free(buffer, num_others) else self._refuse(buffer)

    @contextmanager
    def borrow(
        self,
        shape: Sequence[int],
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str = "cpu",
        pinned: bool = False,
    ) -> Iterator[torch.Tensor]:
        """A buffer for the block; given back at its end, also by an exception.

        The name bound by `as` lives on after the block: it must not be used there any more.
        """
        buffer = self.take(shape, dtype=dtype, device=device, pinned=pinned)
        try:
            yield buffer
        finally:
            by_block = 1
            num_others = sys.getrefcount(buffer) - OF_VARIABLE - by_block
            if _is_free(buffer, num_others):
                self._keep(buffer)
            else:
                self._refuse(buffer)

    def clear(self) -> PoolOutcome:
        """Let go of all buffers that are kept; says how many bytes those were, and who still has one."""
        with self._lock:
            kept = _refs_to(buffer for _, buffer, _ in self._free.values())
            num_kept = len(self._free)
            self._free.clear()
            self._by_key.clear()
            self._kept_bytes = 0
        return PoolOutcome(num_evicted=num_kept, devices=compare_storages(kept, (), kept), _let_go=kept)

    def _refuse(self, buffer: torch.Tensor) -> bool:
        _tell_allocator(buffer)
        refs = _refs_to((buffer,))
        with self._lock:
            self._counts["refused"] += 1
            self._refused.extend(refs)
        return False

    def _keep(self, buffer: torch.Tensor) -> bool:
        _tell_allocator(buffer)
        # Without CUDA nothing is pinned, and asking would start its driver.
        pinned = buffer.device.type == "cpu" and torch.cuda.is_initialized() and buffer.is_pinned()
        key = _key(buffer.shape, buffer.dtype, buffer.device, pinned)
        if buffer.nbytes > self.most_bytes or _is_capturing(key):
            with self._lock:
                self._counts["evicted"] += 1
            return False
        kept = key, buffer, _work_under_way() if pinned else ()
        with self._lock:
            self._number += 1
            self._free[self._number] = kept
            self._by_key.setdefault(key, []).append(self._number)
            self._kept_bytes += buffer.nbytes
            while self._kept_bytes > self.most_bytes:
                self._evict_oldest()
        return True

    def _evict_oldest(self) -> None:
        self._take_out(next(iter(self._free)))
        self._counts["evicted"] += 1

    def _take_out(self, number: int) -> None:
        key, buffer, _ = self._free.pop(number)
        numbers = self._by_key[key]
        numbers.remove(number)
        if not numbers:
            del self._by_key[key]
        self._kept_bytes -= buffer.nbytes


def _refs_to(buffers: Iterable[torch.Tensor]) -> tuple[StorageRef, ...]:
    refs = StorageRefs()
    for buffer in buffers:
        refs.add(buffer, f"a buffer {list(buffer.shape)} {str(buffer.dtype).removeprefix('torch.')}")
    return tuple(refs)


def _key(shape: Sequence[int], dtype: torch.dtype | None, device: torch.device | str, pinned: bool) -> _Key:
    try:
        sizes = tuple(operator.index(size) for size in shape)
        place = torch.device(device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"a buffer needs a shape like (32, 1024) and a device like 'cuda:0': {error}") from None
    if min(sizes, default=0) < 0:
        raise UsageError(f"a buffer needs a shape like (32, 1024); {sizes} was given")
    if not isinstance(dtype, torch.dtype | None):
        raise UsageError(f"a buffer needs a dtype like torch.float32; {dtype!r} was given")
    if (pinned or place.type == "cuda") and not torch.cuda.is_initialized():
        if not torch.cuda.is_available():
            wanted = "that is pinned" if pinned else f"on {place}"
            raise UsageError(f"a buffer {wanted} needs a CUDA device; there is none")
        torch.cuda.init()  # pinning starts it without a word to Python, which would not know what is pinned then
    stream = 0
    if place.type == "cuda":
        place = torch.device("cuda", torch.cuda.current_device() if place.index is None else place.index)
        stream = int(torch.cuda.current_stream(place).stream_id)
    return sizes, dtype or torch.get_default_dtype(), place, pinned, stream


def _is_capturing(key: _Key) -> bool:
    """Whether this is memory of the device, or copied from by it, while the current stream is captured into a graph:
    a replay works with it again, whoever has it then."""
    _, _, place, pinned, _ = key
    return (pinned or place.type == "cuda") and bool(torch.cuda.is_current_stream_capturing())


def _tell_allocator(buffer: torch.Tensor) -> None:
    """That the current stream works with a buffer, which may have been made on another: whoever drops it, its memory
    is not handed out before that is done. Nothing where it was made on this one."""
    if buffer.device.type == "cuda" and type(buffer) is torch.Tensor:
        buffer.record_stream(torch.cuda.current_stream(buffer.device))


def _work_under_way() -> tuple[torch.cuda.Event, ...]:
    """What the current streams of all devices that are in use have still to do, which may be copies from pinned memory.
    Waits for nothing; some microseconds."""
    num_devices = torch.cuda.device_count()
    is_in_use = getattr(torch._C, "_cuda_hasPrimaryContext", bool)
    here = torch.cuda.current_device()
    devices = (
        [index for index in range(num_devices) if index == here or is_in_use(index)] if num_devices > 1 else [here]
    )
    streams = [torch.cuda.current_stream(index) for index in devices]
    return tuple(stream.record_event() for stream in streams if not stream.query())


def _is_free(buffer: torch.Tensor, num_others: int) -> bool:
    """Whether nobody but its user holds a buffer: not its object, its tensor in C++ (a graph), its memory (a view)."""
    if num_others > 0 or _COUNT_STORAGE_USES is None or type(buffer) is not torch.Tensor:
        return False
    if buffer.requires_grad or buffer._is_view() or not buffer.is_contiguous():
        return False
    storage = buffer.untyped_storage()
    is_whole = bool(storage.nbytes() == math.prod(buffer.shape) * buffer.element_size())
    by_tensor_and_storage_object = 2
    num_uses = int(_COUNT_STORAGE_USES(storage_id_of(buffer)))
    return is_whole and buffer._use_count() == 1 and num_uses == by_tensor_and_storage_object
