"""Room on the stack for frames that our hooks add to the program's own."""

from __future__ import annotations

import sys
from contextlib import suppress

_OF_THE_LIMIT = 3
_FOR_A_HOOK = 50


class RoomForFrames:
    """Torch calls a module by one frame more where there is any hook for all modules: a model that calls itself deep
    into a tree would meet Python's limit earlier than without us. The room stays for as long as there are hooks now
    and then: calls that are under way as they are taken out have those frames still."""

    def __init__(self) -> None:
        self._found = 0
        self._given = 0

    def give(self) -> None:
        """A third more frames, and those of a hook at the bottom; once."""
        if self._given:
            return
        self._found = sys.getrecursionlimit()
        self._given = self._found + self._found // _OF_THE_LIMIT + _FOR_A_HOOK
        sys.setrecursionlimit(self._given)

    def take_back(self) -> None:
        """As it was found, unless the program has set another limit since, or is deeper than that just now."""
        if self._given and sys.getrecursionlimit() == self._given:
            with suppress(RecursionError):
                sys.setrecursionlimit(self._found)
        self._given = 0
