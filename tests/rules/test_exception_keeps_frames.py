from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, finding
from tenure.model.suspect import HoldingReference, Suspect
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


def test_the_last_error_of_an_interactive_session() -> None:
    kept = replace(SPECIMENS["TN302"], symptom="survivor", retained_bytes=9 << 20)
    last = HoldingReference("global", "last_exc", "last_exc")
    variable = HoldingReference("local", "forecast", "forecast")

    found = check_suspect(replace(kept, holder=variable, cut=(last,)))

    assert found is not None
    assert found.message == (
        "`sys.last_exc` keeps an exception, whose traceback keeps `forecast` and the other variables of the functions "
        "it passed through: 9.00 MiB."
    )
    assert [remedy.summary for remedy in found.remedies] == [
        "the interpreter keeps the last uncaught error: before going on in the same session, "
        "`sys.last_exc = sys.last_value = sys.last_traceback = None`",
        REMEDY,
    ]


def test_the_last_error_that_the_programs_own_prompt_sets() -> None:
    last = HoldingReference("global", "last_value", "last_value")
    kept = replace(SPECIMENS["TN302"], symptom="survivor", retained_bytes=9 << 20, holder=last, cut=(last,))

    found = check_suspect(kept)

    assert found is not None
    assert found.message == (
        "`sys.last_value` keeps an exception, whose traceback keeps the variables of the functions it passed through: "
        "9.00 MiB."
    )


OTHERS = {
    "no traceback on the path": SPECIMENS["TN202"],
    "a ring is told as a ring": replace(SPECIMENS["TN302"], cyclic=True),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
