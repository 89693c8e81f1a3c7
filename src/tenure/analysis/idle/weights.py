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


_NOTABLE_BYTES = 128 << 10
_NOTABLE_SHARE = 0.05
_TRIAL_BYTES = 16 << 10
_TRIAL_SHARE = 0.10


def is_news(num_bytes: int, of: int) -> bool:
    """Whether `num_bytes` idle are a twentieth `of` all and notable, or a tenth of a trial's."""
    return num_bytes >= max(_NOTABLE_BYTES, _NOTABLE_SHARE * of) or num_bytes >= max(_TRIAL_BYTES, _TRIAL_SHARE * of)
