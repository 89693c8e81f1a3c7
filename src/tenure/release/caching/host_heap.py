"""The C library's heap (glibc): what it keeps of freed memory, and giving that back to the system."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any


class _Info(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and later."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    )  # fmt: skip


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        library: Any = ctypes.CDLL(None)
        library.malloc_trim.argtypes = [ctypes.c_size_t]
        library.malloc_trim.restype = ctypes.c_int
        library.mallinfo2.restype = _Info
    except (OSError, AttributeError, TypeError):
        return None
    return library


def read_host_heap() -> tuple[int, int] | None:
    """Bytes of the heap in use, and bytes that it keeps though they are free; None without glibc 2.33.

    Memory that large tensors were given by the system directly is in use here and goes back when they die.
    """
    library = _library()
    if library is None:
        return None
    found = library.mallinfo2()
    return int(found.uordblks + found.hblkhd), int(found.fordblks)


def give_back_host_heap() -> bool:
    """Have the heap give whole free pages back to the system; whether it gave any. Milliseconds per gigabyte."""
    library = _library()
    return library is not None and bool(library.malloc_trim(0))
