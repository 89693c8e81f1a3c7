from __future__ import annotations

import sys

from tenure.capture.guarding.recursion import RoomForFrames


def test_room_is_given_once_and_taken_back_unless_the_program_has_set_a_limit_since() -> None:
    found = sys.getrecursionlimit()
    room, other = RoomForFrames(), RoomForFrames()
    try:
        room.give()
        room.give()
        given = sys.getrecursionlimit()
        room.take_back()
        back = sys.getrecursionlimit()
        other.give()
        sys.setrecursionlimit(found + 7)
        other.take_back()
        assert (given, back, sys.getrecursionlimit()) == (found + found // 3 + 50, found, found + 7)
    finally:
        sys.setrecursionlimit(found)
