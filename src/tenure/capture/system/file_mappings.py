"""Memory that is a file's, mapped: the kernel takes its pages back when it needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

_SHARED = (b"/dev/", b"/memfd:")


def find_mapped(addresses: Iterable[int], file: str = "/proc/self/maps") -> set[int]:
    """Those of the addresses that lie in a file that is mapped here; none where the system does not say.

    Shared memory is no file in this sense: nothing but its users gives it back.
    """
    ranges = list(_mapped_files(file))
    return {address for address in addresses if any(begin <= address < end for begin, end in ranges)}


def _mapped_files(file: str) -> Iterator[tuple[int, int]]:
    with suppress(OSError), open(file, "rb") as lines:  # noqa: PTH123 - pathlib would be one import more
        for line in lines:
            fields = line.split(maxsplit=5)
            path = fields[5].rstrip() if len(fields) > 5 else b""
            if path.startswith(b"/") and not path.startswith(_SHARED):
                begin, _, end = fields[0].partition(b"-")
                yield int(begin, 16), int(end, 16)
