"""Where the CUDA driver lays segments: which of two equal free blocks torch takes first goes by their addresses.

Not documented; as seen in traces that torch 2.11 recorded on an H200 (tests/allocator/recorded_on_cuda). Addresses are
reserved by regions of a multiple of 32 MiB. A segment goes where it fits most closely into the newest region that has
room for it. Else a new region begins below all others, or at the upper end of a gap that regions left, if 32 MiB more
than it needs are there. A region that is empty goes, but not those that the driver has begun for itself. What else maps
memory, Python, the driver's modules, takes gaps too and is not known here: addresses are predicted in their order, not
as numbers.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from tenure.allocator.earlier_state import EarlierState

_MIB = 1 << 20
REGION = 32 * _MIB
GRANULE = 2 * _MIB
HIGHEST = 1 << 56
"""Regions of a device of which nothing is known come down from here."""
_ROOM = 1 << 42
OF_THE_CONTEXT = ((HIGHEST + 40 * _MIB, HIGHEST + 64 * _MIB), (HIGHEST + 30 * _MIB, HIGHEST + REGION))
"""What the driver's own regions have left in a program that has only begun: 24 MiB and 2 MiB; the older one first."""

Stretch = tuple[int, int]
"""Where it begins, and where it ends."""


def first_regions(earlier: EarlierState, end_of_ranges: int) -> tuple[int, tuple[Stretch, ...]]:
    """Below which address new regions lie, and which there are, oldest first: those that an earlier state's segments
    lie in, from the first of them on, for what lies before it is not known to be free."""
    segments = [segment for segment in earlier.segments if not segment.is_expandable]
    found: list[Stretch] = []
    for segment in segments:
        end = _up(segment.address + segment.size)
        if found and segment.address < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((segment.address, end))
    if not found:
        return HIGHEST, OF_THE_CONTEXT
    lowest = found[0][0] // REGION * REGION
    return (lowest if lowest - end_of_ranges >= _ROOM else HIGHEST), tuple(reversed(found))


def _up(address: int) -> int:
    return -(-address // REGION) * REGION


class _Region:
    __slots__ = ("end", "free", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.free: list[Stretch] = [(start, end)]


class DriverAddresses:
    """Gives out addresses, and takes them back. Cost: a look at each region, of which there are as many as there are
    times 32 MiB reserved at most."""

    def __init__(self, below: int = HIGHEST, regions: Sequence[Stretch] = OF_THE_CONTEXT) -> None:
        self._regions = [_Region(start, end) for start, end in regions]
        """Oldest first."""
        self._lowest = below
        self._gaps: list[Stretch] = []
        """What regions that went have left between others, by address; they do not touch."""

    def take(self, size: int) -> int:
        """The address of a new segment."""
        size = -(-size // GRANULE) * GRANULE
        for region in reversed(self._regions):
            fitting = [(end - start, start) for start, end in region.free if end - start >= size]
            if fitting:
                address = min(fitting)[1]
                break
        else:
            address = self._begin(_up(size))
            region = self._regions[-1]
        _cut_out(region.free, address, address + size)
        return address

    def occupy(self, address: int, size: int) -> None:
        """A segment is there without having been asked for."""
        region = self._around(address)
        if region is not None:
            _cut_out(region.free, address, address + -(-size // GRANULE) * GRANULE)

    def give_back(self, address: int, size: int) -> None:
        """A segment is there no more."""
        region = self._around(address)
        if region is None:
            return
        _put_in(region.free, address, min(address + -(-size // GRANULE) * GRANULE, region.end))
        if region.free == [(region.start, region.end)] and region.start % REGION == 0:
            self._regions.remove(region)
            _put_in(self._gaps, region.start, region.end)
            if self._gaps[0][0] == self._lowest:
                self._lowest = self._gaps.pop(0)[1]

    def _around(self, address: int) -> _Region | None:
        return next((region for region in self._regions if region.start <= address < region.end), None)

    def _begin(self, size: int) -> int:
        for start, end in reversed(self._gaps):
            if end - start >= size + REGION:
                _cut_out(self._gaps, end - size, end)
                address = end - size
                break
        else:
            address = self._lowest = self._lowest - size
        self._regions.append(_Region(address, address + size))
        return address


def _cut_out(stretches: list[Stretch], start: int, end: int) -> None:
    """Take what lies in one stretch out of it; nothing where it lies in none."""
    place = bisect_right(stretches, (start, HIGHEST << 8)) - 1
    if place < 0 or stretches[place][1] < end:
        return
    first, last = stretches[place]
    stretches[place : place + 1] = [each for each in ((first, start), (end, last)) if each[0] < each[1]]


def _put_in(stretches: list[Stretch], start: int, end: int) -> None:
    """One more stretch; those that it touches become part of it."""
    for each in [each for each in stretches if each[0] == end or each[1] == start]:
        stretches.remove(each)
        start, end = min(start, each[0]), max(end, each[1])
    insort(stretches, (start, end))
