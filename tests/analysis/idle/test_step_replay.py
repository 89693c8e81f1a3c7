"""A step's memory with something freed earlier, in figures drawn by hand."""

from __future__ import annotations

import pytest

from heaps import census
from profiles import MIB, profile
from tenure.analysis.idle.step_replay import Replay

JUDGED, HIDDEN, SCORES = (100, 4, 6, 9, 9), (101, 5, 5, 6, 6), (102, 7, 7, 8, 9)


@pytest.mark.parametrize(("beside", "drop"), [({}, 2), ({6: 4}, 2), ({6: 6}, 1)])
def test_what_is_made_right_after_an_operation_lies_beside_what_outlives_that(
    beside: dict[int, int], drop: int
) -> None:
    """A reference's logits (4 MiB) are reduced as soon as they are there: their hidden layer (5 MiB) has gone then.

    As it was, 4 + 7 MiB at the peak; without what waits 4 + 5 at operation 6, and right after it 4 and what is made.
    """
    replay = Replay(profile(JUDGED, HIDDEN, SCORES), census("main.rows -> list -> [0] tensor 1MiB"))

    made = {operation: size * MIB for operation, size in beside.items()}
    assert replay.drop_if_freed({0: 6}, made) == drop * MIB
