from __future__ import annotations

import pytest

from suspects import SPECIMENS, carried, finding
from tenure.model.suspect import Suspect
from tenure.rules.tensors_collected import check_suspect

REMEDY = (
    "keep a number, a running sum or a `deque(maxlen=n)` instead of every tensor; move to the CPU or to "
    "disk what must be kept"
)


def test_a_list_that_only_grows() -> None:
    assert check_suspect(SPECIMENS["TN202"]) == finding(
        REMEDY,
        message="`history[*]` gains tensors and loses none: 1.00 MiB per step.",
        rule="TN202",
        name="tensors-collected",
    )


OTHERS = {
    "a dict by other keys than numbers that count is a cache": SPECIMENS["TN203"],
    "with a graph it is another cause": SPECIMENS["TN107"],
    "what does not grow is none": carried(),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
