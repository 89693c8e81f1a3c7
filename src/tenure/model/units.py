"""Bytes and durations as people read them: 1024-based sizes with their unit, times with theirs."""

from __future__ import annotations

import re

LEAST_MEMORY = 1 << 20
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGTPkmgtp]?)((?:[Ii]?[Bb])?)\s*")
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def format_bytes(num_bytes: int | float) -> str:
    """`1.86 GiB`; whole bytes below one KiB; negative sizes keep their sign."""
    size = float(num_bytes)
    for unit in _SIZES:
        if abs(size) < 1024 or unit == _SIZES[-1]:
            return f"{size:.0f} B" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError("unreachable: the last unit always returns")


def format_byte_range(least: float, most: float) -> str:
    """`313.9–448.4 MiB`, in the unit of the larger, with two decimals where one does not tell them apart; one size
    where both read alike."""
    power = 0
    while abs(most) >= 1024 ** (power + 1) and power < len(_SIZES) - 1:
        power += 1
    unit, sizes = _SIZES[power], (least / 1024**power, most / 1024**power)
    for decimals in (1, 2) if power else (0,):
        low, high = (f"{size:.{decimals if size else 0}f}" for size in sizes)
        if low != high:
            return f"{low}–{high} {unit}"
    return format_bytes(most)


def format_seconds(seconds: float) -> str:
    """`3.2 ms`, `1.4 s`, `2 min 05 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def format_duration(seconds: float) -> str:
    """Long times with two figures at most: `40 s`, `26 min`, `3.5 h`, `12 days`."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            number = seconds / size
            return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "less than a second"


def format_about(number: float) -> str:
    """Two figures of a count, with commas: `1,900`, `7`, `2,300,000`."""
    if number < 10:
        return f"{number:.0f}"
    digits = len(str(int(number))) - 2
    return f"{int(round(number, -digits)):,}"


def format_number(number: float) -> str:
    """Two figures below ten, whole above: `0.12`, `3`, `250`."""
    return f"{number:.2g}" if abs(number) < 9.95 else f"{number:,.0f}"


def parse_bytes(text: str | int) -> int:
    """`2GiB`, `512 MiB`, `1.5 TiB` or a number of bytes; `G` alone is GiB, and `80GB` is 80 times 10^9, as it says.

    Raises ValueError with what was given and what would do; also for `Gb`, which is a unit of bits.
    """
    if isinstance(text, int) and text >= 0:
        return text
    found = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r} is no size; write it as in '2GiB', '512 MiB' or a number of bytes")
    number, letter, rest = found.groups()
    unit = letter + rest
    if rest.endswith("b") and unit != unit.lower():
        raise ValueError(f"{text!r} counts bits; write it as in '{number}{letter.upper()}iB'")
    base = 1000 if letter and rest in ("B", "b") else 1024
    return int(float(number) * base ** " KMGTP".index(letter.upper() or " "))


def parse_memory(text: str) -> int:
    """The same for the memory of a device or a budget of it; ValueError also for less than a MiB, which is a number
    that lost its unit."""
    found = parse_bytes(text)
    if found < LEAST_MEMORY:
        told = f"{text}GiB" if text.isdigit() and found else "80GiB"
        raise ValueError(f"{text!r} is {found:,} bytes; write it with its unit, as in '{told}'")
    return found
