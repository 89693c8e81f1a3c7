"""Plays requests on a simulated device, from nothing or from the state that a trace began in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenure.allocator.blocks import Block
from tenure.allocator.earlier_state import EarlierState
from tenure.allocator.laid_out import lay_out
from tenure.allocator.native import Played, native_play
from tenure.allocator.requests import OF_ITSELF, Kind, Requests
from tenure.allocator.settings import AllocatorSettings
from tenure.allocator.simulated_device import SimulatedDevice
from tenure.allocator.simulator import Allocator
from tenure.model.allocator import PoolId


@dataclass(frozen=True)
class Start:
    """What is there before the first request that is played; `bases` as `lay_out` wants them."""

    earlier: EarlierState
    bases: Mapping[int, int]


def played(
    requests: Requests,
    settings: AllocatorSettings,
    start: Start | None = None,
    *,
    total_bytes: int | None = None,
    limit_bytes: int | None = None,
    error: int | None = None,
) -> Played:
    """Play requests, those for what `start` has left out, up to the one that was refused as the `error`-th.

    The device has `total_bytes`, None: without end; of `limit_bytes` the settings' fraction may be reserved. Cost: a
    tenth of a microsecond per request, two where the native simulator is not there.
    """
    told = None if start is None else (start.earlier, start.bases)
    found = native_play(requests, settings, told, total_bytes=total_bytes, limit_bytes=limit_bytes, error=error)
    if found is not None:
        return found
    return played_in_python(requests, settings, start, total_bytes=total_bytes, limit_bytes=limit_bytes, error=error)


def played_in_python(
    requests: Requests,
    settings: AllocatorSettings,
    start: Start | None = None,
    *,
    total_bytes: int | None = None,
    limit_bytes: int | None = None,
    error: int | None = None,
) -> Played:
    """The same, always by the simulator in Python."""
    allocator, held = _begun(requests, settings, start, total_bytes, limit_bytes)
    counts = allocator.counts
    peak_reserved, peak_active, fits, num_errors = counts.reserved_bytes, counts.active_bytes, True, 0
    columns = (requests.kind, requests.number, requests.bytes, requests.stream, requests.pool)
    begin = 0 if start is None else requests.num_earlier
    for kind, number, size, stream, pool in zip(*(each[begin:].tolist() for each in columns), strict=True):
        if kind == Kind.ALLOCATE:
            block = allocator.allocate(size, stream, requests.pools[pool])
            fits = fits and block is not None
            peak_reserved = max(peak_reserved, counts.reserved_bytes)
            peak_active = max(peak_active, counts.active_bytes)
            if block is not None:
                held[number] = block
        elif kind == Kind.FREE and number in held:
            allocator.free(held.pop(number).address)
        elif kind == Kind.GIVE_BACK:
            allocator.give_back(requests.pools[pool])
        elif kind in OF_ITSELF:
            _give_back_as_recorded(allocator, Kind(kind), size, stream, requests.pools[pool], total_bytes)
        elif kind == Kind.OUT_OF_MEMORY:
            num_errors += 1
            if num_errors == error:
                block = allocator.allocate(size, stream, requests.pools[pool])
                fits = fits and block is not None
                peak_reserved = max(peak_reserved, counts.reserved_bytes)
                break
    return Played(
        peak_reserved,
        peak_active,
        fits,
        counts.num_device_allocations,
        counts.num_retries,
        counts.num_out_of_memory,
    )


def _give_back_as_recorded(
    allocator: Allocator, kind: Kind, size: int, stream: int, pool: PoolId, total_bytes: int | None
) -> None:
    """What the recorded allocator gave back by itself; where the device's memory is known the rules see to it."""
    is_bounded = allocator.is_limited or total_bytes is not None
    if kind == Kind.RETRY and not is_bounded:
        allocator.give_back(pool)
    elif kind == Kind.COLLECT and not allocator.is_limited and allocator.settings.garbage_collection_threshold > 0:
        allocator.collect(size)
    elif kind == Kind.OVERSIZED and not is_bounded:
        allocator.release_oversized(size, stream, pool)


def _begun(
    requests: Requests,
    settings: AllocatorSettings,
    start: Start | None,
    total_bytes: int | None,
    limit_bytes: int | None,
) -> tuple[Allocator, dict[int, Block]]:
    """The allocator before the first request that is played, and its blocks in use by number."""
    if start is None:
        return Allocator(settings, SimulatedDevice(total_bytes), limit_bytes), {}
    earlier = start.earlier
    allocator = Allocator(settings, SimulatedDevice(total_bytes, earlier), limit_bytes)
    lay_out(allocator, earlier, requests.pools, start.bases)
    laid = zip(requests.number[: requests.num_earlier].tolist(), earlier.blocks, strict=True)
    return allocator, {n: found for n, block in laid if (found := allocator.in_use.get(block.address)) is not None}
