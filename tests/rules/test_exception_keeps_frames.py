from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, finding
from tenure.model.suspect import Suspect
from tenure.rules.exception_keeps_frames import check_suspect

REMEDY = (
    "keep the text (`traceback.format_exc()`) instead of the exception, or drop the frames' variables "
    "first: `traceback.clear_frames(error.__traceback__)`, `error.with_traceback(None)`"
)


def test_a_list_of_exceptions_that_grows() -> None:
    assert check_suspect(SPECIMENS["TN302"]) == finding(
        REMEDY,
        message="`history[*]` keeps an exception, whose traceback keeps the variables of the functions it passed "
        "through: 1.00 MiB per step.",
        rule="TN302",
        name="exception-keeps-frames",
    )


OTHERS = {
    "no traceback on the path": SPECIMENS["TN202"],
    "a ring is told as a ring": replace(SPECIMENS["TN302"], cyclic=True),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
