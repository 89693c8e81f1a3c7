"""The simulator in C, where it was built: `_simulator.c` does what `simulator.py` does.

It gives up where a replay leaves the trace, and on what torch does not do (a thousand private pools, hundreds of
streams): both functions give back None then, and the simulator in Python plays it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from tenure.allocator.driver_addresses import HIGHEST
from tenure.allocator.dropped_pools import DEFAULT_ROW
from tenure.allocator.earlier_state import EarlierState
from tenure.allocator.laid_out import lowest_addresses
from tenure.allocator.pools import pools_of_events
from tenure.allocator.requests import Requests
from tenure.allocator.settings import AllocatorSettings
from tenure.allocator.simulated_device import first_range, regions_before
from tenure.model.allocator import DEFAULT_POOL, Action, Events, Snapshot
from tenure.model.heap import Ints

try:
    _native: Any = import_module("tenure.allocator._simulator")
except ImportError:  # there was no compiler
    _native = None

Columns = tuple[Ints, ...]
_NO_END = -1
_FLOOR = HIGHEST >> 1
_HIGHEST = 1 << 60


@dataclass(frozen=True)
class NativeReplay:
    """A trace that came out as recorded. `active` and `reserved` are peaks and their events; `left` has columns of the
    blocks after the last event: address, bytes, in use, stream, pool, small, expandable, first of its memory."""

    num_allocations: int
    num_segments: int
    active: tuple[int, int]
    reserved: tuple[int, int]
    left: tuple[Ints, ...]

    def blocks(self) -> list[tuple[int, int, bool]]:
        """Address, bytes and whether it is in use, of each block after the last event, by address."""
        order = np.argsort(self.left[0])
        address, size, in_use = (self.left[column][order].tolist() for column in range(3))
        return list(zip(address, size, map(bool, in_use), strict=True))


@dataclass(frozen=True)
class Played:
    """What requests came to. `fits`: whether all were served, among them the refused one that it went up to; others
    that were refused are left out."""

    peak_reserved_bytes: int
    peak_active_bytes: int
    fits: bool
    num_device_allocations: int
    num_retries: int
    num_out_of_memory: int


def native_replay(
    snapshot: Snapshot,
    device: int,
    earlier: EarlierState,
    settings: AllocatorSettings,
    events: Events,
    until: int | None = None,
    levels: tuple[Ints, Ints] | None = None,
) -> NativeReplay | None:
    """Play a device's events, those before the one of number `until`; active and reserved bytes after each go into
    `levels`. Cost: a tenth of a microsecond per event."""
    if _native is None or snapshot.pools[DEFAULT_ROW] != DEFAULT_POOL:
        return None
    if not (_is_plain(earlier) and _are_plain(events)):
        return None
    bases = lowest_addresses(snapshot, device, earlier)
    rows = (events.action, events.address, events.bytes, events.stream, pools_of_events(snapshot, device, events).rows)
    try:
        told = _settings(settings, None), *_state(earlier, bases), _columns(each[:until] for each in rows)
        found = _native.replay(*told, *(levels or (bytearray(), bytearray())))
    except OverflowError:
        return None
    if found is None:
        return None
    num_allocations, num_segments, active, active_at, reserved, reserved_at, left = found
    columns = tuple(np.frombuffer(column, dtype=np.int64) for column in left)
    return NativeReplay(num_allocations, num_segments, (active, active_at), (reserved, reserved_at), columns)


def native_play(
    requests: Requests,
    settings: AllocatorSettings,
    start: tuple[EarlierState, Mapping[int, int]] | None,
    *,
    total_bytes: int | None,
    limit_bytes: int | None,
    error: int | None,
) -> Played | None:
    """Play requests, without the interpreter's lock. Cost: a tenth of a microsecond per request."""
    if _native is None or requests.pools[DEFAULT_ROW] != DEFAULT_POOL:
        return None
    earlier, bases = (EarlierState((), ()), {}) if start is None else start
    if not _is_plain(earlier):
        return None
    given = sum(segment.size for segment in earlier.segments)
    below, regions = regions_before(earlier)
    rows = (requests.kind, requests.number, requests.bytes, requests.stream, requests.pool)
    try:
        found = _native.play(
            _settings(settings, limit_bytes),
            *_state(earlier, bases),
            _columns(rows),
            _columns(_table([*regions], 2)),
            _NO_END if total_bytes is None else total_bytes,
            given,
            first_range(earlier),
            below,
            _FLOOR if below == HIGHEST else 0,
            int(requests.number.max(initial=-1)) + 1,
            0 if start is None else requests.num_earlier,
            _NO_END if error is None else error,
        )
    except OverflowError:
        return None
    return None if found is None else Played(*found)


def _is_plain(earlier: EarlierState) -> bool:
    """Whether addresses and sizes can be reckoned with in 64 bits, and no segments overlap."""
    segments, blocks = earlier.segments, earlier.blocks
    places = [*((each.address, each.size) for each in segments), *((each.address, each.size) for each in blocks)]
    fit = all(0 <= address < _HIGHEST and 0 < size < _HIGHEST for address, size in places)
    return fit and all(one.address + one.size <= two.address for one, two in pairwise(segments))


def _are_plain(events: Events) -> bool:
    """The same of a trace's events."""
    placed = (events.action >= Action.ALLOC) & (events.action <= Action.SEGMENT_UNMAP)
    given = (events.action >= Action.SEGMENT_ALLOC) & placed
    address = events.address[placed]
    return bool((address >= 0).all() and (address < _HIGHEST).all() and (events.bytes[given] > 0).all())


def _settings(settings: AllocatorSettings, limit_bytes: int | None) -> tuple[Any, ...]:
    limited = limit_bytes is not None and settings.memory_fraction < 1
    return (
        settings.max_split_bytes,
        settings.max_non_split_rounding_bytes,
        settings.roundup_power2_divisions,
        settings.garbage_collection_threshold,
        settings.expandable_segments,
        settings.large_segment_bytes,
        settings.memory_fraction,
        int((limit_bytes or 0) * settings.memory_fraction) if limited else _NO_END,
    )


def _state(earlier: EarlierState, bases: Mapping[int, int]) -> tuple[Columns, Columns]:
    segments = [
        (
            each.address,
            each.size,
            each.stream,
            each.is_small,
            each.pool,
            each.is_expandable,
            bases.get(each.address, each.address),
        )
        for each in earlier.segments
    ]
    blocks = [(each.address, each.size, each.requested) for each in earlier.blocks]
    return _columns(_table(segments, 7)), _columns(_table(blocks, 3))


def _table(rows: list[Any], num_columns: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(len(rows), num_columns).T


def _columns(columns: Iterable[Ints]) -> Columns:
    return tuple(np.ascontiguousarray(column, dtype=np.int64) for column in columns)
