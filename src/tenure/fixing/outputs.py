"""What a program put out, compared between runs: only where two runs of the unchanged program agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from tenure.fixing.pairs import pair_names, unpaired
from tenure.fixing.printed import make_alike, read_lines, without_lost_warnings
from tenure.fixing.written import Written

SHOWN = 5
STREAMS = ("stdout", "stderr")
_WORDS = re.compile(r"[^\s=,:;()\[\]{}]+")
_OF_MEMORY = re.compile(
    r"(?i)\b(mem|memory|rss|alloc\w*|reserved|peak|bytes|[kmg]i?b|num_tensors|tensors alive)\b|\d\s*[KMG]i?B\b"
)


@dataclass(frozen=True)
class Comparison:
    """`equal` is None where the two unchanged runs differ so that nothing can be compared. `differences` are lines.

    `of_memory` are differences in lines that tell of memory, which a fix is there to change; they do not count.
    """

    equal: bool | None
    differences: tuple[str, ...] = ()
    of_memory: tuple[str, ...] = ()


def compare_texts(first: str, second: str, other: str) -> Comparison:
    """`other` against two unchanged runs: words in which these differ are left out, times and addresses as well."""
    lines, again, changed = (read_lines(text) for text in (first, second, other))
    if len(lines) != len(again):
        return Comparison(None)
    if not lines and not changed:
        return Comparison(True)
    lines, again = without_lost_warnings(lines, changed), without_lost_warnings(again, changed)
    differences: list[str] = []
    of_memory: list[str] = []
    for number, (one, two, three) in enumerate(zip_longest(lines, again, changed), start=1):
        if not _differs(one, two, three):
            continue
        shown = f"line {number}: {_shown(one)} -> {_shown(three)}"
        is_of_memory = one is not None and three is not None and _OF_MEMORY.search(one)
        (of_memory if is_of_memory else differences).append(shown)
    return Comparison(not differences, tuple(differences[:SHOWN]), tuple(of_memory[:SHOWN]))


def compare_files(first: Written, second: Written, other: Written) -> Comparison:
    """Files written: what two unchanged runs write alike is to be the same, of the rest the words alike in both."""
    same_names = True
    comparisons = []
    for name, again, there in pair_names(first.digests, second.digests, other.digests):
        if again is None:
            same_names = False
        elif there is None:
            comparisons.append(Comparison(False, (f"{name} is missing",)))
        elif len({first.digests[name], second.digests[again], other.digests[there]}) > 1:
            comparisons.append(_compare_file(name, [(first, name), (second, again), (other, there)]))
    fresh = sorted(unpaired(other.digests, first.digests)) if same_names else []
    comparisons += [Comparison(False, (f"{name} is new",)) for name in fresh]
    return join(comparisons)


def _compare_file(name: str, runs: Sequence[tuple[Written, str]]) -> Comparison:
    texts = [written.texts.get(its) for written, its in runs]
    if None not in texts:
        return _named(name, compare_texts(*(text or "" for text in texts)))
    first, second = (written.digests[its] for written, its in runs[:2])
    return Comparison(False, (f"{name} differs",)) if first == second else Comparison(None)


def compare_outputs(
    first: tuple[str, str, Written], second: tuple[str, str, Written], other: tuple[str, str, Written]
) -> Comparison:
    """Stdout, stderr and files of a run against two unchanged ones."""
    parts = [
        _named(name, compare_texts(str(first[at]), str(second[at]), str(other[at]))) for at, name in enumerate(STREAMS)
    ]
    return join([*parts, compare_files(first[2], second[2], other[2])])


def _named(name: str, comparison: Comparison) -> Comparison:
    return replace(
        comparison,
        differences=tuple(f"{name} {text}" for text in comparison.differences),
        of_memory=tuple(f"{name} {text}" for text in comparison.of_memory),
    )


def join(comparisons: Sequence[Comparison]) -> Comparison:
    """All of them as one: unequal where one is, not comparable where one is and none is unequal."""
    verdicts = [each.equal for each in comparisons]
    equal = False if False in verdicts else None if None in verdicts else True
    return Comparison(
        equal,
        tuple(text for each in comparisons for text in each.differences),
        tuple(text for each in comparisons for text in each.of_memory),
    )


def split_words(line: str) -> list[str]:
    """Names and numbers of a line, without what stands between them; times and addresses are all the same word."""
    return _WORDS.findall(make_alike(line))


def _differs(one: str | None, two: str | None, three: str | None) -> bool:
    if one is None or two is None or three is None:
        return True
    words = [split_words(line) for line in (one, two, three)]
    if words[2] in words[:2]:
        return False
    if len(words[0]) != len(words[1]):
        return False
    if len(words[0]) != len(words[2]):
        return True
    return any(left == right != other for left, right, other in zip(*words, strict=True))


def _shown(line: str | None) -> str:
    text = "nothing" if line is None else repr(line.strip())
    return text if len(text) <= 60 else text[:57] + "..."
