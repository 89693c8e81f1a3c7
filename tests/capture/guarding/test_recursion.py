from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tenure.capture.guarding.recursion import RoomForFrames


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The limit now, with nobody who has room."""
    monkeypatch.setattr(RoomForFrames, "_users", 0)
    limit = sys.getrecursionlimit()
    yield limit
    sys.setrecursionlimit(limit)


def test_room_is_given_once_and_taken_back_by_the_last_of_several(found: int) -> None:
    room, other = RoomForFrames(), RoomForFrames()
    room.give()
    room.give()
    other.give()
    given = sys.getrecursionlimit()
    room.take_back()
    room.take_back()
    kept = sys.getrecursionlimit()
    other.take_back()
    assert (given, kept, sys.getrecursionlimit()) == (found + found // 3 + 50, given, found)


def test_a_limit_that_the_program_has_set_since_stays(found: int) -> None:
    room = RoomForFrames()
    room.give()
    sys.setrecursionlimit(found + 7)
    room.take_back()
    assert sys.getrecursionlimit() == found + 7
