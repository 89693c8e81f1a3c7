"""From which size on memory that idles is worth a word."""

from __future__ import annotations

LEAST_BYTES = 1 << 20
SMALL_BYTES = 128 << 10
SMALL_SHARE = 0.25


def weighs_enough(num_bytes: int, of: int, *, share: float) -> bool:
    """Whether `num_bytes` are this share `of` all: of a mebibyte and more; of less, down to 128 KiB, a quarter, for a
    trial of a program is often a thousandth of what it is to be."""
    least = share if num_bytes >= LEAST_BYTES else max(share, SMALL_SHARE)
    return num_bytes >= max(SMALL_BYTES, least * of)
