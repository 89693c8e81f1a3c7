"""From which size on memory that idles is worth a word."""

from __future__ import annotations

from tenure.model.suspect import COPIED_TO_GROW, Suspect

LEAST_BYTES = 1 << 20
SMALL_BYTES = 128 << 10
SMALL_SHARE = 0.25


def weighs_enough(num_bytes: int, of: int, *, share: float) -> bool:
    """Whether `num_bytes` are this share `of` all: of a mebibyte and more; of less, down to 128 KiB, a quarter, for a
    trial of a program is often a thousandth of what it is to be."""
    least = share if num_bytes >= LEAST_BYTES else max(share, SMALL_SHARE)
    return num_bytes >= max(SMALL_BYTES, least * of)


_LITTLE_SHARE = 0.10
_MUCH_SHARE = 0.03
"""Of a mebibyte and more: of what a large model needs at its peak that is a batch's worth."""
_KEPT_BYTES = 256 << 10
_KEPT_SHARE = 0.01


def may_weigh_enough(num_bytes: int, of: int, *, share: float) -> bool:
    """The same for a hint: a tenth, and of a quarter of a mebibyte and more the hundredth part."""
    little = num_bytes >= max(SMALL_BYTES, max(share, _LITTLE_SHARE) * of)
    return little or num_bytes >= max(_KEPT_BYTES, _KEPT_SHARE * of) or weighs_enough(num_bytes, of, share=share)


_NOTABLE_BYTES = 128 << 10
_NOTABLE_SHARE = 0.05
_TRIAL_BYTES = 16 << 10
_TRIAL_SHARE = 0.10


def is_news(num_bytes: int, of: int) -> bool:
    """Whether `num_bytes` idle are a twentieth `of` all and notable, or a tenth of a trial's."""
    return num_bytes >= max(_NOTABLE_BYTES, _NOTABLE_SHARE * of) or num_bytes >= max(_TRIAL_BYTES, _TRIAL_SHARE * of)


def is_worth_a_hint(num_bytes: int, of: int, *, is_kept: bool) -> bool:
    """The same of what a profiled step shows to be idle: of a mebibyte and more, the thirtieth part; where an object or
    a container keeps it, and not a variable until its function ends, the hundredth part of a quarter and more."""
    least = max(_KEPT_BYTES, _KEPT_SHARE * of) if is_kept else max(LEAST_BYTES, _MUCH_SHARE * of)
    return is_news(num_bytes, of) or num_bytes >= least


LEAST_SHARE_IN_LIBRARY = 0.25
"""Of the peak. What a function of a library keeps a little too long its users cannot change."""


def is_worth_a_word_to_the_user(suspect: Suspect) -> bool:
    """Whether what idles at the peak is the program's own, or a quarter of it, or made by a concatenation that the
    program may ask for in another way: a cache of a fixed length."""
    share = (suspect.peak_drop_bytes or suspect.retained_bytes) / (suspect.peak_bytes or 1)
    own = suspect.holder_is_yours or COPIED_TO_GROW in suspect.facts
    return own or not suspect.peak_bytes or share >= LEAST_SHARE_IN_LIBRARY
