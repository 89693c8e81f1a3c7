"""The largest size whose needs are within a limit, in few tries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenure.model.plan import MOST

_HALVE_EVERY = 3


def largest_within(needed: Callable[[int], int], limit: int, start: int) -> int:
    """The largest size whose bytes are within the limit, 0 where none is, `MOST` where larger ones would be; what is
    needed grows with the size.

    Begins at `start` and goes where the line through the last two tries points, so that a few tries do.
    """
    low, high, size = 0, MOST + 1, start
    tried: list[tuple[int, int]] = []
    while high - low > 1:
        tried.append((size, needed(size)))
        low, high = (size, high) if tried[-1][1] <= limit else (low, size)
        middle = 2 * low if high > MOST else (low + high) // 2
        aimed = _by_line(tried, limit) if len(tried) % _HALVE_EVERY else None
        size = min(max(middle if aimed is None else aimed, low + 1), high - 1)
    return low


def _by_line(tried: Sequence[tuple[int, int]], limit: int) -> int | None:
    if len(tried) < 2:
        return None
    (before, bytes_before), (last, bytes_last) = tried[-2:]
    if bytes_last == bytes_before:
        return None
    return last + (limit - bytes_last) * (last - before) // (bytes_last - bytes_before)
