"""What a value is to the memory that it keeps alive."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """In the order of what they keep alive; nothing is what no text tells, too."""

    NOTHING = 0
    TENSOR = 1
    GRAPH = 2
