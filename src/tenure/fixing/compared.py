"""What two unchanged runs let be compared, and what not, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from tenure.fixing.outputs import STREAMS, split_words
from tenure.fixing.pairs import pair_names
from tenure.fixing.printed import read_lines
from tenure.fixing.written import Written

MOST_FILES = 5
"""So many files are named one by one."""


@dataclass(frozen=True)
class Compared:
    """Lines that say what was compared, and what could not be."""

    compared: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()

    def __add__(self, other: Compared) -> Compared:
        return Compared((*self.compared, *other.compared), (*self.not_compared, *other.not_compared))


NOTHING = Compared()


def tell_outputs(first: tuple[str, str, Written], second: tuple[str, str, Written]) -> Compared:
    """Of stdout, stderr and files of two unchanged runs."""
    told = NOTHING
    for at, name in enumerate(STREAMS):
        told += _tell_text(name, str(first[at]), str(second[at]))
    return told + _tell_files(first[2], second[2])


def _tell_text(name: str, first: str, second: str) -> Compared:
    lines, again = read_lines(first), read_lines(second)
    if not lines and not again:
        return NOTHING
    if len(lines) != len(again):
        return Compared((), (f"{name}: two unchanged runs write {len(lines)} and {len(again)} lines",))
    total, apart, example = 0, 0, ""
    for number, (one, two) in enumerate(zip(lines, again, strict=True), start=1):
        words, others = split_words(one), split_words(two)
        total += len(words)
        new = sum(a != b for a, b in zip(words, others, strict=True)) if len(words) == len(others) else len(words)
        example = example or (f"line {number}" if new else "")
        apart += new
    said = (f"{name}: {total - apart} of {total} words",) if apart else (f"{name}: {_count(total, 'word')}",)
    left = f"{name}: {_count(apart, 'word')} in which two unchanged runs differ, the first in {example}"
    return Compared(said if total > apart else (), (left,) if apart else ())


def _tell_files(first: Written, second: Written) -> Compared:
    told, alike = NOTHING, []
    for name, again, _ in pair_names(first.digests, second.digests, ()):
        if again is None:
            told += Compared((), (f"{name}: one of two unchanged runs has none of this name",))
        elif first.digests[name] == second.digests[again] and first.digests[name] != "unreadable":
            alike.append(name)
        elif name in first.texts and again in second.texts:
            told += _tell_text(name, first.texts[name], second.texts[again])
        else:
            told += Compared((), (f"{name}: two unchanged runs write it differently, and it is no text",))
    more = [f"and {len(alike) - MOST_FILES} more"] if len(alike) > MOST_FILES else []
    files = ", ".join([*alike[:MOST_FILES], *more])
    return Compared((f"files: {files}",) if alike else ()) + told


def tell_steps(steps: Mapping[int, object]) -> str:
    """Steps as a person would: `steps 1 to 4, 6, 8`."""
    known = sorted(steps)
    starts = [at for at, (one, two) in enumerate(pairwise([-2, *known])) if two != one + 1]
    runs = [(known[a], known[b - 1]) for a, b in pairwise([*starts, len(known)])]
    parts = [
        f"{one} to {last}" if last > one + 1 else ", ".join(map(str, dict.fromkeys((one, last)))) for one, last in runs
    ]
    return f"step{'s' * (len(known) > 1)} {', '.join(parts)}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"
