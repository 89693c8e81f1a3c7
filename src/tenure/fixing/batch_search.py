"""The largest batch whose peak stays within a limit, in a bounded number of tries: a bracket that always narrows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MOST = 1 << 20
MOST_TRIES = 8
"""A run of the program each: where they end before the search does, the answer is an interval."""
ENOUGH = 16
"""The search ends where what is left to learn is this part of the batch."""
FARTHEST = 16
"""A batch is at most so many times the largest that was seen to fit: a line through two peaks says little far off."""


@dataclass(frozen=True)
class Tried:
    """A run with one batch size: its peak and step time, None where not measured, or why it failed.

    `refused`: the program ended by itself and not for want of memory, so that another size near by may do.
    """

    peak_bytes: int | None = None
    step_seconds: float | None = None
    failure: str = ""
    refused: bool = False


@dataclass(frozen=True)
class Largest:
    """The largest size that was seen to fit, 0 where none was, and the most that the largest can be.

    `is_known`: they are within a sixteenth. `has_limit`: a size was seen that does not fit.
    """

    least: int
    most: int
    is_known: bool
    has_limit: bool


@dataclass(frozen=True)
class _Bracket:
    """Sizes up to `low` fit, from `high` on they do not; only multiples of `unit` are tried."""

    low: int
    high: int
    unit: int
    limit: int
    peaks: Mapping[int, int]

    @property
    def is_narrow(self) -> bool:
        return self.high - self.low <= max(self.unit, self.low // ENOUGH)

    @property
    def width(self) -> float:
        """How often it can be halved: by factors where something fits."""
        return math.log2(self.high / max(self.low, 0.5))


def find_largest(
    try_size: Callable[[int], Tried],
    *,
    limit: int,
    first: int,
    most: int = MOST,
    most_tries: int = MOST_TRIES,
    known: Mapping[int, Tried] | None = None,
) -> Largest:
    """The largest size whose peak is within the limit, to within a sixteenth unless `most_tries` end the search.

    Peaks are mostly straight lines over the size, so a line through two of them says what to try next; where two such
    tries have not halved the bracket, its middle is tried. A size that does not run does not fit. One that the program
    refuses is left out, and from then on multiples of `first` alone are tried. `known` sizes are not tried again.
    """
    tries, size = dict(known or {}), min(first, most)
    num_known, widths = len(tries), list[float]()
    while True:
        if size not in tries:
            tries[size] = try_size(size)
        bracket = _bracket(tries, limit, first, most)
        widths.append(bracket.width)
        size = _choose(bracket, _narrows(widths), most)
        if bracket.is_narrow or size in tries or len(tries) - num_known == most_tries:
            break
    return Largest(bracket.low, bracket.high - 1, bracket.is_narrow, bracket.high <= most)


def _bracket(tries: Mapping[int, Tried], limit: int, first: int, most: int) -> _Bracket:
    peaks = {size: each.peak_bytes for size, each in tries.items() if each.peak_bytes is not None}
    odd = {size for size, each in tries.items() if each.refused and size % first}
    high = min((size for size in tries if size not in odd and peaks.get(size, limit + 1) > limit), default=most + 1)
    low = max((size for size, peak in peaks.items() if size < high and peak <= limit), default=0)
    return _Bracket(low, high, first if odd else 1, limit, peaks)


def _narrows(widths: list[float]) -> bool:
    """Whether the last two tries have halved what is left to learn."""
    return len(widths) < 3 or widths[-1] <= widths[-3] / 2


def _choose(bracket: _Bracket, narrows: bool, most: int) -> int:
    """The next size to try, inside of the bracket where there is one left."""
    low, high = bracket.low, bracket.high
    if high > most and low:
        size = _choose_above(bracket, low, most)
    elif narrows and (guess := _guess(bracket)) < high:
        least, largest = low + max(1, low // ENOUGH), high - max(1, high // (ENOUGH + 1))
        size = min(max(guess, least, high // FARTHEST), largest)
    else:
        size = round(math.sqrt(max(low, 0.5) * high))
    size -= size % bracket.unit
    return min(max(size, low - low % bracket.unit + bracket.unit), high - 1)


def _choose_above(bracket: _Bracket, low: int, most: int) -> int:
    """Nothing is known not to fit: as far as the line goes, and at least twice as far where it is no line."""
    before = sorted(size for size in bracket.peaks if size <= low)
    is_near = len(before) > 2 and low < 2 * before[-3]
    least = 2 * low if len(before) == 1 or is_near else low + max(1, low // ENOUGH)
    return min(max(_guess(bracket), least), FARTHEST * low, most)


def _guess(bracket: _Bracket) -> int:
    """Where the line through the two peaks next to the limit meets it; from one alone, the line through zero."""
    fitting = sorted(size for size in bracket.peaks if size <= bracket.low)
    above = sorted(size for size in bracket.peaks if size >= bracket.high)
    pair = [*fitting[-1:], *above[:1]] if fitting and above else (fitting[-2:] or above[:2])
    if len(pair) < 2:
        size = pair[0] if pair else bracket.high // 2
        peak = bracket.peaks.get(size, 0)
        guess = size * bracket.limit // peak if peak else size
        return guess if fitting else min(guess, bracket.high // 2)
    one, other = pair
    rise = bracket.peaks[other] - bracket.peaks[one]
    if rise <= 0:
        return MOST
    return one + (bracket.limit - bracket.peaks[one]) * (other - one) // rise
