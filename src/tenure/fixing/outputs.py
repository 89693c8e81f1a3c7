"""What a program put out, compared between runs: only where two runs of the unchanged program agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

SHOWN = 5
_WORDS = re.compile(r"[^\s=,:;()\[\]{}]+")
_OF_MEMORY = re.compile(
    r"(?i)\b(mem|memory|rss|alloc\w*|reserved|peak|bytes|[kmg]i?b|num_tensors|tensors alive)\b|\d\s*[KMG]i?B\b"
)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


@dataclass(frozen=True)
class Comparison:
    """`equal` is None where the two unchanged runs differ so that nothing can be compared. `differences` are lines.

    `of_memory` are differences in lines that tell of memory, which a fix is there to change; they do not count.
    """

    equal: bool | None
    differences: tuple[str, ...] = ()
    of_memory: tuple[str, ...] = ()


def compare_texts(first: str, second: str, other: str) -> Comparison:
    """`other` against two unchanged runs: words in which these differ (times, addresses) are left out."""
    lines, again, changed = (_ADDRESS.sub("0x", text).splitlines() for text in (first, second, other))
    if len(lines) != len(again):
        return Comparison(None)
    if not lines and not changed:
        return Comparison(True)
    differences: list[str] = []
    of_memory: list[str] = []
    for number, (one, two, three) in enumerate(zip_longest(lines, again, changed), start=1):
        if not _differs(one, two, three):
            continue
        shown = f"line {number}: {_shown(one)} -> {_shown(three)}"
        is_of_memory = one is not None and three is not None and _OF_MEMORY.search(one)
        (of_memory if is_of_memory else differences).append(shown)
    return Comparison(not differences, tuple(differences[:SHOWN]), tuple(of_memory[:SHOWN]))


def compare_files(first: Mapping[str, str], second: Mapping[str, str], other: Mapping[str, str]) -> Comparison:
    """Files written, by digest: those that two unchanged runs write alike are to be the same."""
    same = {name: digest for name, digest in first.items() if second.get(name) == digest}
    differences = [
        f"{name} {'differs' if name in other else 'is missing'}" for name in same if other.get(name) != same[name]
    ]
    return Comparison(not differences, tuple(differences[:SHOWN]))


def join(comparisons: Sequence[Comparison]) -> Comparison:
    """All of them as one: unequal where one is, not comparable where one is and none is unequal."""
    verdicts = [each.equal for each in comparisons]
    equal = False if False in verdicts else None if None in verdicts else True
    return Comparison(
        equal,
        tuple(text for each in comparisons for text in each.differences),
        tuple(text for each in comparisons for text in each.of_memory),
    )


def _differs(one: str | None, two: str | None, three: str | None) -> bool:
    if one is None or two is None or three is None:
        return True
    if one == three or two == three:
        return False
    words = [_WORDS.findall(line) for line in (one, two, three)]
    if len(words[0]) != len(words[1]):
        return False
    if len(words[0]) != len(words[2]):
        return True
    return any(left == right != other for left, right, other in zip(*words, strict=True))


def _shown(line: str | None) -> str:
    text = "nothing" if line is None else repr(line.strip())
    return text if len(text) <= 60 else text[:57] + "..."
