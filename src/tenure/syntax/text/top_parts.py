"""The statements at a file's top that stand around some lines: what has to be parsed again after a change there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import first_line, parse


def part_around(source: SourceFile, first: int, last: int, lines: Sequence[str]) -> tuple[str, int]:
    """The text of the statements at the top of a file that stand on the lines `first` to `last`, with what is between
    them and the next one, and how many lines are above. `lines` are the file's, with their ends.

    Changed so that it can be parsed alone, the whole file can be. All of a file that cannot be parsed itself.
    """
    starts = _starts(source)
    before, after = bisect_right(starts, first), bisect_right(starts, last)
    begin = starts[before - 1] - 1 if before else 0
    end = starts[after] - 1 if after < len(starts) else len(lines)
    return "".join(lines[begin:end]), begin


@lru_cache(maxsize=64)
def _starts(source: SourceFile) -> tuple[int, ...]:
    """The first lines of statements at the top, decorators counted, but of those that share it with one before."""
    found: list[int] = []
    end = 0
    try:
        body = parse(source).body
    except SourceError:
        return ()
    for node in body:
        start = first_line(node)
        if start > end:
            found.append(start)
        end = node.end_lineno or node.lineno
    return tuple(found)
