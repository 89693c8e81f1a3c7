"""Plays a recorded trace on the simulated allocator, and compares every address and every segment with the record.

Taken from the trace, not predicted: the addresses of new segments, when another stream was done with a block, and which
segments went back to the device. All else has to come out as recorded; where it does not, the replay says at which
event it left the trace, puts the block where it was recorded, and goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from tenure.allocator.blocks import Block, Range
from tenure.allocator.earlier_state import EarlierState, state_before
from tenure.allocator.given_memory import BEFORE_ALL, first_given_twice
from tenure.allocator.laid_out import ENDLESS, lay_out, lowest_addresses
from tenure.allocator.native import native_replay
from tenure.allocator.pools import pools_of_events
from tenure.allocator.settings import SMALL_SEGMENT, AllocatorSettings, settings_of_snapshot
from tenure.allocator.simulator import Allocator
from tenure.model.allocator import DEFAULT_POOL, Action, BlockState, PoolId, Snapshot
from tenure.model.heap import Ints

_GIVEN = (Action.SEGMENT_ALLOC, Action.SEGMENT_MAP)


@dataclass(frozen=True)
class Difference:
    """Where a replay left the trace: the event's number, and what was recorded and came out instead."""

    event: int
    text: str


@dataclass(frozen=True)
class Peak:
    """A highest value: bytes, and the number of the event after which they were reached; -1: before the first."""

    bytes: int
    event: int


@dataclass(frozen=True)
class Replay:
    """What a replay of one device came to.

    `blocks_equal`: whether the blocks at the end, free ones among them, are those of the snapshot. `is_whole`: whether
    every event could be played; after a difference that could not be mended the rest was not.
    """

    device: int
    num_events: int
    num_allocations: int
    num_allocations_equal: int
    num_segments: int
    num_segments_equal: int
    blocks_equal: bool
    is_whole: bool
    first_difference: Difference | None
    earlier: EarlierState
    active: Peak
    reserved: Peak
    settings: AllocatorSettings = field(default_factory=AllocatorSettings)

    @property
    def is_equal(self) -> bool:
        """Whether everything came out as recorded."""
        return self.first_difference is None and self.blocks_equal


def replay_snapshot(snapshot: Snapshot, device: int) -> Replay:
    """Play the events of one device under the settings that the snapshot tells. Cost: half a microsecond per event,
    three where it is played in Python: without the native simulator, or because something differs.

    Raises SnapshotError where the settings or the state before the first event are none that torch can have.
    """
    settings = settings_of_snapshot(snapshot.settings)
    earlier = state_before(snapshot, device, settings)
    return _equal_replay(snapshot, device, earlier, settings) or replay_in_python(snapshot, device)


def replay_in_python(snapshot: Snapshot, device: int) -> Replay:
    """The same, always by the simulator in Python, which goes on after a difference."""
    return _Replaying(snapshot, device).run()


def _equal_replay(snapshot: Snapshot, device: int, earlier: EarlierState, settings: AllocatorSettings) -> Replay | None:
    """What the native simulator comes to; None where it is not there, or left the trace."""
    events = snapshot.traces.get(device)
    if events is None or first_given_twice(earlier, events) is not None:
        return None
    found = native_replay(snapshot, device, earlier, settings, events)
    if found is None:
        return None
    return Replay(
        device=device,
        num_events=len(events),
        num_allocations=found.num_allocations,
        num_allocations_equal=found.num_allocations,
        num_segments=int(np.isin(events.action, _GIVEN).sum()),
        num_segments_equal=found.num_segments,
        blocks_equal=found.blocks() == recorded_blocks(snapshot, device),
        is_whole=True,
        first_difference=None,
        earlier=earlier,
        active=Peak(*found.active),
        reserved=Peak(*found.reserved),
        settings=settings,
    )


def allocator_after(snapshot: Snapshot, device: int, event: int) -> Allocator | None:
    """The simulated allocator as it is after this event; None where the replay left the trace for good before it."""
    playing = _Replaying(snapshot, device)
    try:
        playing.begin()
        for number, row in enumerate(playing.rows()[: event + 1]):
            playing.play(number, *row)
    except _LostError:
        return None
    return playing.allocator


def levels_in_python(snapshot: Snapshot, device: int) -> tuple[Ints, Ints] | None:
    """Active and reserved bytes after each event; None where the replay left the trace for good."""
    playing = _Replaying(snapshot, device)
    rows = playing.rows()
    levels = np.zeros((2, len(rows)), dtype=np.int64)
    counts = playing.allocator.counts
    try:
        playing.begin()
        for number, row in enumerate(rows):
            playing.play(number, *row)
            levels[:, number] = counts.active_bytes, counts.reserved_bytes
    except _LostError:
        return None
    return levels[0], levels[1]


@dataclass(frozen=True)
class _Offer:
    """Memory that the device gave, by the event that says so."""

    address: int
    size: int
    event: int
    is_mapped: bool


class _NotOfferedError(Exception):
    """The simulated allocator asks for a segment, and the trace has none at this event."""


class _RecordedDevice:
    """Gives the segments, and the pages of expandable ones, that the trace says the device gave."""

    def __init__(self) -> None:
        self.offered: deque[_Offer] = deque()
        """What came before this event and is not taken yet, oldest first."""
        self.num_equal = 0

    def give(self, size: int, stream: int) -> int | None:
        return self._take(size, "a new segment", is_mapped=False).address

    def take_back(self, address: int, size: int) -> None:
        """Recorded as an event of its own."""

    def reserve(self, page: int, stream: int) -> Range:
        if not (self.offered and self.offered[0].is_mapped):
            raise _NotOfferedError("a new expandable segment is needed, and none was recorded")
        return Range(self.offered[0].address, ENDLESS, page)

    def put_behind(self, address: int, size: int) -> bool:
        if self._take(size, f"memory behind {address:#x}", is_mapped=True).address != address:
            raise _NotOfferedError(f"memory behind {address:#x} is needed, and was recorded elsewhere")
        return True

    def take_from_behind(self, address: int, size: int) -> None:
        """Recorded as an event of its own."""

    def _take(self, size: int, what: str, *, is_mapped: bool) -> _Offer:
        if not (self.offered and self.offered[0].is_mapped == is_mapped):
            raise _NotOfferedError(f"{what}, {size:,} bytes, is needed, and none was recorded")
        if self.offered[0].size != size:
            raise _NotOfferedError(f"{what}, {size:,} bytes, is needed; {self.offered[0].size:,} were recorded")
        self.num_equal += 1
        return self.offered.popleft()


class _LostError(Exception):
    """The recorded state cannot be restored: what follows would be sand."""


class _Replaying:
    def __init__(self, snapshot: Snapshot, device: int) -> None:
        self._snapshot = snapshot
        self._number = device
        self._settings = settings_of_snapshot(snapshot.settings)
        self._earlier = state_before(snapshot, device, self._settings)
        self._device = _RecordedDevice()
        self.allocator = Allocator(self._settings, self._device)
        self._pools: tuple[PoolId, ...] = snapshot.pools
        self._given_twice = first_given_twice(self._earlier, snapshot.traces.get(device))
        self._first: Difference | None = None
        self._num_equal = 0

    def begin(self) -> None:
        """Lay out what was there before the first event. Raises _LostError where that cannot have been."""
        if self._given_twice == BEFORE_ALL:
            self._differs(0, "before it there was memory at one address twice")
            raise _LostError
        bases = lowest_addresses(self._snapshot, self._number, self._earlier)
        lay_out(self.allocator, self._earlier, self._snapshot.pools, bases)

    def rows(self) -> list[tuple[int, int, int, int, int]]:
        """Action, address, bytes, stream and pool of each event, as `play` wants them."""
        events = self._snapshot.traces.get(self._number)
        if events is None:
            return []
        found = pools_of_events(self._snapshot, self._number, events)
        self._pools = found.pools
        columns: Iterable[list[int]] = (
            each.tolist() for each in (events.action, events.address, events.bytes, events.stream, found.rows)
        )
        return list(zip(*columns, strict=True))

    def run(self) -> Replay:
        events = self._snapshot.traces.get(self._number)
        rows = self.rows()
        is_whole = True
        try:
            self.begin()
        except _LostError:
            rows, is_whole = [], False
        counts = self.allocator.counts
        active, reserved = Peak(counts.active_bytes, -1), Peak(counts.reserved_bytes, -1)
        for number, (action, address, size, stream, pool) in enumerate(rows):
            try:
                self.play(number, action, address, size, stream, pool)
            except _LostError:
                is_whole = False
                break
            if counts.active_bytes > active.bytes:
                active = Peak(counts.active_bytes, number)
            if counts.reserved_bytes > reserved.bytes:
                reserved = Peak(counts.reserved_bytes, number)
        return Replay(
            device=self._number,
            num_events=0 if events is None else len(events),
            num_allocations=0 if events is None else int((events.action == Action.ALLOC).sum()),
            num_allocations_equal=self._num_equal,
            num_segments=0 if events is None else int(np.isin(events.action, _GIVEN).sum()),
            num_segments_equal=self._device.num_equal,
            blocks_equal=is_whole and self._blocks() == recorded_blocks(self._snapshot, self._number),
            is_whole=is_whole,
            first_difference=self._first,
            earlier=self._earlier,
            active=active,
            reserved=reserved,
            settings=self._settings,
        )

    def play(self, number: int, action: int, address: int, size: int, stream: int, pool: int) -> None:
        """Play one event. Raises _LostError where the recorded state cannot be restored."""
        if number == self._given_twice:
            self._differs(number, f"{size:,} bytes at {address:#x} are given, and some are there already")
            raise _LostError
        if action == Action.ALLOC:
            self._allocate(number, address, size, stream, self._pools[pool])
        elif action == Action.FREE_COMPLETED:
            self._free(number, address)
        elif action in _GIVEN:
            if action == Action.SEGMENT_ALLOC:
                self._take_offers()
            self._device.offered.append(_Offer(address, size, number, action == Action.SEGMENT_MAP))
        elif action == Action.SEGMENT_FREE:
            self._give_back(number, address, size)
        elif action == Action.SEGMENT_UNMAP:
            self._unmap(number, address, size)

    def _allocate(self, number: int, address: int, size: int, stream: int, pool: PoolId) -> None:
        try:
            block = self.allocator.allocate(size, stream, pool)
        except _NotOfferedError as error:
            self._differs(number, f"for {size:,} bytes {error}")
            block = None
        if block is not None and block.address == address:
            self._num_equal += 1
            return
        if block is not None:
            self._differs(number, f"{size:,} bytes went to {address:#x}; {block.address:#x} was predicted")
            self.allocator.free(block.address)
        self._take_offers()
        self._place(address, size)

    def _free(self, number: int, address: int) -> None:
        if address in self.allocator.in_use:
            self.allocator.free(address)
        else:
            self._differs(number, f"what lies at {address:#x} is freed, and nothing is in use there")

    def _give_back(self, number: int, address: int, size: int) -> None:
        self._take_offers()
        block = self._free_block_with(address)
        if block is None or not (block.is_whole and (block.address, block.size) == (address, size)):
            self._differs(
                number, f"the segment of {size:,} bytes at {address:#x} goes back, and is not free as a whole"
            )
            raise _LostError
        self.allocator.release(block)

    def _unmap(self, number: int, address: int, size: int) -> None:
        self._take_offers()
        block = self._free_block_with(address)
        if block is None or address + size > block.address + block.size or block.range is None:
            self._differs(number, f"{size:,} bytes are taken from behind {address:#x}, and are not free")
            raise _LostError
        self.allocator.unmap(block, address, address + size)

    def _take_offers(self) -> None:
        """Memory came that nobody was predicted to ask for: it is there all the same."""
        while self._device.offered:
            offer = self._device.offered[0]
            if offer.is_mapped:
                self._differs(
                    offer.event, f"{offer.size:,} bytes were put behind {offer.address:#x}, and are not needed"
                )
                raise _LostError
            self._device.offered.popleft()
            text = f"a segment of {offer.size:,} bytes was recorded, and none of that size is needed"
            self._differs(offer.event, text)
            pool = self.allocator.pool(DEFAULT_POOL, offer.size <= SMALL_SEGMENT)
            self.allocator.add_segment(offer.address, offer.size, pool, 0)

    def _place(self, address: int, size: int) -> None:
        block = self._free_block_with(address)
        rounded = self._settings.round_bytes(size)
        if block is None or address + rounded > block.address + block.size:
            raise _LostError
        self.allocator.place(block, address, rounded, size)

    def _free_block_with(self, address: int) -> Block | None:
        """The free block that an address lies in."""
        for pool in self.allocator.pools():
            block = pool.by_address.get(address)
            if block is not None:
                return block
        around = (block for pool in self.allocator.pools() for block in pool.by_address.values())
        return next((block for block in around if block.address <= address < block.address + block.size), None)

    def _differs(self, number: int, text: str) -> None:
        if self._first is None:
            self._first = Difference(number, text)

    def _blocks(self) -> list[tuple[int, int, bool]]:
        free = [block for pool in self.allocator.pools() for block in pool.by_address.values()]
        in_use = self.allocator.in_use.values()
        return sorted((block.address, block.size, block.in_use) for block in (*free, *in_use))


def recorded_blocks(snapshot: Snapshot, device: int) -> list[tuple[int, int, bool]]:
    """Address, size and whether it is in use, of all blocks that a snapshot has on a device."""
    told = snapshot.blocks
    chosen = snapshot.segments.device[told.segment] == device
    rows = zip(told.address[chosen].tolist(), told.bytes[chosen].tolist(), told.state[chosen].tolist(), strict=True)
    return sorted((address, size, state != BlockState.INACTIVE) for address, size, state in rows)
