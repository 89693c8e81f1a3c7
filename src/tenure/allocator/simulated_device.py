"""A device that is not there: gives segments as the driver does until its memory is used up."""

from __future__ import annotations

from tenure.allocator.blocks import Range
from tenure.allocator.driver_addresses import GRANULE, DriverAddresses, first_regions
from tenure.allocator.earlier_state import EarlierState
from tenure.allocator.laid_out import ENDLESS, end_of

_FIRST_ADDRESS = 1 << 32
_ENDLESS = 1 << 42
_NOTHING = EarlierState((), ())


def first_range(earlier: EarlierState) -> int:
    """Where its first expandable segment lies, above all that was given before."""
    return max(_FIRST_ADDRESS, -(-end_of(earlier) // GRANULE) * GRANULE)


def regions_before(earlier: EarlierState) -> tuple[int, tuple[tuple[int, int], ...]]:
    """What `first_regions` says of the driver's addresses, beside the expandable segments of this state."""
    ends = (each.address + ENDLESS for each in earlier.segments if each.is_expandable)
    return first_regions(earlier, max(ends, default=0))


class SimulatedDevice:
    """Gives segments in granules of 2 MiB, as the driver does; `total_bytes` None: without end. The segments of
    `earlier` are given already."""

    def __init__(self, total_bytes: int | None = None, earlier: EarlierState = _NOTHING) -> None:
        self.total_bytes = total_bytes
        self.given_bytes = sum(segment.size for segment in earlier.segments)
        self._next = first_range(earlier)
        self._addresses = DriverAddresses(*regions_before(earlier))
        for segment in earlier.segments:
            if not segment.is_expandable:
                self._addresses.occupy(segment.address, segment.size)

    def give(self, size: int, stream: int) -> int | None:
        """The address of a new segment; None where the memory is used up."""
        if self.total_bytes is not None and self.given_bytes + size > self.total_bytes:
            return None
        self.given_bytes += size
        return self._addresses.take(size)

    def take_back(self, address: int, size: int) -> None:
        """Its bytes and its addresses can be given again."""
        self.given_bytes -= size
        self._addresses.give_back(address, size)

    def reserve(self, page: int, stream: int) -> Range:
        """As many addresses as torch reserves, 9/8 of the device's memory, in whole pages; each time higher ones."""
        wanted = _ENDLESS if self.total_bytes is None else self.total_bytes // 8 * 9
        size = -(-wanted // page) * page
        address = self._next
        self._next += size
        return Range(address, size, page)

    def put_behind(self, address: int, size: int) -> bool:
        """Whether there was that much memory left."""
        if self.total_bytes is not None and self.given_bytes + size > self.total_bytes:
            return False
        self.given_bytes += size
        return True

    def take_from_behind(self, address: int, size: int) -> None:
        """Its bytes can be given again."""
        self.given_bytes -= size
