"""`tenure.TrimPolicy`: gives cached memory back when that helps, and keeps account of whether it did.

`torch.cuda.empty_cache()` in every step makes training slow (each block is asked of the driver again); never calling
it lets a cache that another process, or another size of block, needs stand idle.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, replace

import torch

from tenure.capture.system.memory_room import read_memory_room
from tenure.capture.system.resident import read_rss_bytes
from tenure.errors import UsageError
from tenure.model.units import format_bytes, format_seconds
from tenure.release.caching.host_heap import give_back_host_heap, read_host_heap
from tenure.release.caching.shared_segments import who_keeps_segments
from tenure.release.outcome import ByDevice, DeviceBytes, Survivor

_MOST_PATIENCE = 1024


@dataclass(frozen=True)
class AllocatorReading:
    """One device's memory at one moment, in bytes.

    `used_bytes` is what everyone uses of `total_bytes`. Of what our allocator reserved, `active_bytes` are in use and
    `stuck_bytes` free but in segments that something in use shares: those cannot be given back.
    """

    total_bytes: int
    used_bytes: int
    reserved_bytes: int
    active_bytes: int
    stuck_bytes: int

    @property
    def free_cache_bytes(self) -> int:
        """What could be given back now."""
        return max(0, self.reserved_bytes - self.active_bytes - self.stuck_bytes)

    @property
    def pressure(self) -> float:
        """Share of the device that is used, by anyone."""
        return self.used_bytes / self.total_bytes if self.total_bytes else 0.0

    @property
    def unused_share(self) -> float:
        """Share of what our allocator reserved that could be given back."""
        return self.free_cache_bytes / self.reserved_bytes if self.reserved_bytes else 0.0


@dataclass(frozen=True)
class TrimOutcome(ByDevice):
    """What the end of one step did and why. `freed_bytes` is what the allocator really gave back, in `seconds`.

    `devices` has the device's bytes in use and reserved, before and after; () where its allocator tells nothing.
    """

    step: int
    trimmed: bool
    reason: str
    freed_bytes: int = 0
    seconds: float = 0.0
    devices: tuple[DeviceBytes, ...] = ()

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Tensors on the device in whose segments free memory lies that could not go, by who holds them; judged when it
        is asked for. () where nothing was trimmed, and on the CPU, whose heap tells nothing of its blocks.

        Costs the allocator's snapshot, a look at all objects, and a census where there are such tensors.
        """
        return who_keeps_segments([each.device for each in self.devices]) if self.trimmed else ()


@dataclass(frozen=True)
class TrimLedger:
    """What trimming has cost and brought so far.

    `taken_back_bytes` is how much of what was given back the allocator reserved again by the time it was looked at
    next: memory that was needed after all.
    """

    num_steps: int = 0
    num_trims: int = 0
    seconds: float = 0.0
    freed_bytes: int = 0
    taken_back_bytes: int = 0

    def __str__(self) -> str:
        return (
            f"{self.num_trims} trims in {self.num_steps} steps: {format_bytes(self.freed_bytes)} given back, "
            f"{format_bytes(self.taken_back_bytes)} of it taken again, in {format_seconds(self.seconds)}"
        )


class TrimPolicy:
    """`policy.step()` at the end of each step gives the cache back if three things are true.

    The device is used beyond `pressure`, at least `unused` of what torch reserved could go, and the policy does not
    rest. After a trim it rests until use has fallen below `pressure - hysteresis` or `rest` steps have passed; where
    less than half of what could go went, or most of it is taken again, the rest doubles (up to 1,024-fold), and it
    halves again where memory stays away. On the CPU the C library's heap is trimmed (glibc). Giving back waits for
    the device, as `empty_cache` does: the ledger has the time.
    """

    def __init__(
        self,
        *,
        pressure: float = 0.9,
        unused: float = 0.2,
        hysteresis: float = 0.1,
        rest: int = 16,
        device: torch.device | str | None = None,
    ) -> None:
        for name, value in (("pressure", pressure), ("unused", unused), ("hysteresis", hysteresis)):
            if not (isinstance(value, int | float) and 0 <= value <= 1):
                raise UsageError(f"TrimPolicy: {name} is a share, from 0 to 1; {value!r} was given")
        if not (isinstance(rest, int) and rest >= 1):
            raise UsageError(f"TrimPolicy: rest is a number of steps, at least 1; {rest!r} was given")
        self.ledger = TrimLedger()
        self._pressure = pressure
        self._unused = unused
        self._hysteresis = hysteresis
        self._rest = rest
        self._patience = 1
        self._rests_until = 0
        self._after_trim: AllocatorReading | None = None
        self._last_freed = 0
        self._allocator = _allocator_of(_place_of(device))
        self.read, self.trim = self._allocator.read, self._allocator.trim
        """How a reading is taken and the cache given back; another allocator's may be put in their place."""

    def step(self) -> TrimOutcome:
        """A step has ended: trim if it helps. Two calls of counters on CUDA and one of the driver, some 20 µs."""
        self.ledger = replace(self.ledger, num_steps=self.ledger.num_steps + 1)
        reading = self.read()
        if reading is None:
            return self._outcome("this allocator tells nothing of what it keeps")
        reason = self._why_not(reading)
        return self._outcome(reason, reading) if reason else self._trim_now(reading)

    def _why_not(self, reading: AllocatorReading) -> str:
        """Why not to trim now; "" where it may help."""
        if reading.pressure < self._pressure - self._hysteresis:
            self._rests_until = 0
        if reading.pressure < self._pressure:
            return f"{reading.pressure:.0%} of the device are used, below {self._pressure:.0%}"
        if reading.unused_share < self._unused:
            return f"{reading.unused_share:.0%} of what is reserved could go, less than {self._unused:.0%}"
        if self.ledger.num_steps < self._rests_until:
            return f"resting until step {self._rests_until} after the last trim"
        return ""

    def _trim_now(self, reading: AllocatorReading) -> TrimOutcome:
        self._judge_last_trim(reading)
        start = time.perf_counter()
        self.trim()
        seconds = time.perf_counter() - start
        after = self.read() or reading
        freed = max(0, reading.reserved_bytes - after.reserved_bytes)
        self._after_trim, self._last_freed = after, freed
        if 2 * freed < reading.free_cache_bytes:
            self._wait_longer()
        self._rests_until = self.ledger.num_steps + self._rest * self._patience
        self.ledger = replace(
            self.ledger,
            num_trims=self.ledger.num_trims + 1,
            seconds=self.ledger.seconds + seconds,
            freed_bytes=self.ledger.freed_bytes + freed,
        )
        reason = f"{reading.pressure:.0%} of the device were used, {format_bytes(freed)} could go"
        return TrimOutcome(self.ledger.num_steps, True, reason, freed, seconds, self._rows(reading, after))

    def _judge_last_trim(self, reading: AllocatorReading) -> None:
        """Whether what was given back last was needed again: then wait longer next time."""
        if self._after_trim is None or not self._last_freed:
            return
        regrown = min(self._last_freed, max(0, reading.reserved_bytes - self._after_trim.reserved_bytes))
        self.ledger = replace(self.ledger, taken_back_bytes=self.ledger.taken_back_bytes + regrown)
        if 2 * regrown >= self._last_freed:
            self._wait_longer()
        else:
            self._patience = max(1, self._patience // 2)

    def _wait_longer(self) -> None:
        self._patience = min(2 * self._patience, _MOST_PATIENCE)

    def _outcome(self, reason: str, reading: AllocatorReading | None = None) -> TrimOutcome:
        devices = self._rows(reading, reading) if reading is not None else ()
        return TrimOutcome(self.ledger.num_steps, False, reason, devices=devices)

    def _rows(self, before: AllocatorReading, after: AllocatorReading) -> tuple[DeviceBytes, ...]:
        reserved = before.reserved_bytes, after.reserved_bytes
        return (
            DeviceBytes(str(self._allocator.place), before.active_bytes, after.active_bytes, None, None, *reserved),
        )


def _place_of(device: torch.device | str | None) -> torch.device:
    """The device that was asked for; by default the current CUDA device, or the CPU where there is none."""
    has_cuda = bool(torch.cuda.device_count())  # by NVML before CUDA is started, so that a program can still fork
    try:
        place = torch.device(("cuda" if has_cuda else "cpu") if device is None else device)
    except (RuntimeError, TypeError):
        raise UsageError(f"TrimPolicy knows CUDA devices and the CPU; {device!r} was given") from None
    if place.type == "cuda" and not has_cuda:
        raise UsageError(f"TrimPolicy was given {str(place)!r}; this process sees no CUDA device")
    return place


class _CudaAllocator:
    """torch's, of one CUDA device; without a number of the one that is current at the first look at CUDA started."""

    def __init__(self, place: torch.device) -> None:
        self.place = place
        self._settle()

    def read(self) -> AllocatorReading | None:
        self._settle()
        return read_cuda(self.place)

    def trim(self) -> None:
        torch.cuda.empty_cache()

    def _settle(self) -> None:
        if self.place.index is None and torch.cuda.is_initialized():
            self.place = torch.device("cuda", torch.cuda.current_device())


class _HostAllocator:
    """The C library's heap."""

    place = torch.device("cpu")

    def read(self) -> AllocatorReading | None:
        return read_host()

    def trim(self) -> object:
        return give_back_host_heap()


def _allocator_of(place: torch.device) -> _CudaAllocator | _HostAllocator:
    """How a device's memory is read and its cache given back."""
    if place.type == "cuda":
        return _CudaAllocator(place)
    if place.type == "cpu":
        return _HostAllocator()
    raise UsageError(f"TrimPolicy knows CUDA devices and the CPU; {place} was given")


def read_cuda(device: torch.device) -> AllocatorReading | None:
    """By torch's counters and one call of the driver; None where the program has not started CUDA, and while a stream
    is captured into a CUDA graph."""
    if not torch.cuda.is_initialized() or torch.cuda.is_current_stream_capturing():
        return None
    stats = torch.cuda.memory_stats(device)
    free, total = torch.cuda.mem_get_info(device)
    reserved, active, stuck = (
        int(stats.get(f"{name}.all.current", 0)) for name in ("reserved_bytes", "active_bytes", "inactive_split_bytes")
    )
    return AllocatorReading(int(total), int(total - free), reserved, active, stuck)


def read_host() -> AllocatorReading | None:
    """The C library's heap, against the smaller of what the system and the cgroup allow; None without glibc."""
    heap, room, resident = read_host_heap(), read_memory_room(), read_rss_bytes()
    if heap is None or resident is None or "host_total_bytes" not in room:
        return None
    total, used = room["host_total_bytes"], room["host_total_bytes"] - room.get("host_available_bytes", 0)
    if "cgroup_limit_bytes" in room:
        total, used = room["cgroup_limit_bytes"], room["cgroup_used_bytes"]
    # Trimmed pages stay in the heap's own count: resident memory is what tells whether they went.
    kept = min(heap[1], resident)
    return AllocatorReading(total, used, resident, resident - kept, 0)
