"""A device that is not there: gives segments at rising addresses until its memory is used up."""

from __future__ import annotations

from tenure.allocator.blocks import Range

_FIRST_ADDRESS = 1 << 32
_GRANULE = 2 << 20
_ENDLESS = 1 << 42


def first_address(given_to: int) -> int:
    """Where its first segment lies, above all that was given before."""
    return max(_FIRST_ADDRESS, -(-given_to // _GRANULE) * _GRANULE)


class SimulatedDevice:
    """Gives segments in granules of 2 MiB, as the driver does; `total_bytes` None: without end. `given_bytes` that end
    at `given_to` are given already."""

    def __init__(self, total_bytes: int | None = None, *, given_bytes: int = 0, given_to: int = 0) -> None:
        self.total_bytes = total_bytes
        self.given_bytes = given_bytes
        self._next = first_address(given_to)

    def give(self, size: int, stream: int) -> int | None:
        """The address of a new segment, above all that were given before; None where the memory is used up."""
        if self.total_bytes is not None and self.given_bytes + size > self.total_bytes:
            return None
        address = self._next
        self._next += -(-size // _GRANULE) * _GRANULE
        self.given_bytes += size
        return address

    def take_back(self, address: int, size: int) -> None:
        """Its bytes can be given again, at another address."""
        self.given_bytes -= size

    def reserve(self, page: int, stream: int) -> Range:
        """As many addresses as torch reserves, 9/8 of the device's memory, in whole pages."""
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
