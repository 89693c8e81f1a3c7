"""Room on the stack for frames that our hooks add to the program's own."""

from __future__ import annotations

import sys
from contextlib import suppress

_OF_THE_LIMIT = 3
_FOR_A_HOOK = 50


class RoomForFrames:
    """Torch calls a module by one frame more where there is any hook for all modules: a model that calls itself deep
    into a tree would meet Python's limit earlier than without us. The room stays for as long as there are hooks now
    and then: calls that are under way as they are taken out have those frames still. Several recorders share it."""

    _users = 0
    _found = 0
    _given = 0

    def __init__(self) -> None:
        self._is_user = False

    def give(self) -> None:
        """A third more frames, and those of a hook at the bottom; once."""
        if self._is_user:
            return
        self._is_user = True
        shared = RoomForFrames
        shared._users += 1
        if shared._users == 1:
            shared._found = sys.getrecursionlimit()
            shared._given = shared._found + shared._found // _OF_THE_LIMIT + _FOR_A_HOOK
            sys.setrecursionlimit(shared._given)

    def take_back(self) -> None:
        """As it was found, unless the program has set another limit since, or is deeper than that just now."""
        if not self._is_user:
            return
        self._is_user = False
        shared = RoomForFrames
        shared._users -= 1
        if shared._users == 0 and sys.getrecursionlimit() == shared._given:
            with suppress(RecursionError):
                sys.setrecursionlimit(shared._found)
