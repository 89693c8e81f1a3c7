"""What a value is to the memory that it keeps alive."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Kind(IntEnum):
    """In the order of what they keep alive; nothing is what no text tells, too."""

    NOTHING = 0
    TENSOR = 1
    GRAPH = 2


def greatest(kinds: Iterable[Kind]) -> Kind:
    """The most of some kinds, NOTHING of none. What comes after a graph, which is the most there is, is not asked."""
    found = Kind.NOTHING
    for each in kinds:
        if each > found:
            found = each
            if found is Kind.GRAPH:
                break
    return found
