from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, carried, finding
from tenure.model.suspect import CARRIED_ON, Suspect
from tenure.rules.suspended_frames import check_suspect

REMEDY = (
    "run it to its end or `close()` it (`contextlib.closing`), drop finished requests from the list of "
    "generators, or `del` the variable before `yield`"
)


def test_generators_that_pile_up() -> None:
    assert check_suspect(SPECIMENS["TN305"]) == finding(
        REMEDY,
        message="Suspended `Server.stream` still holds `states`, and nothing resumes or closes it: 1.00 MiB per step.",
        rule="TN305",
        name="suspended-frames",
    )


OTHERS = {
    "a running function": SPECIMENS["TN202"],
    "a generator that the loop draws from": carried(path=SPECIMENS["TN305"].path),
    "what a generator carries on from one result to the next": replace(SPECIMENS["TN305"], facts={CARRIED_ON: True}),
    "a list that a running coroutine fills": replace(SPECIMENS["TN305"], facts={"fills_running": True}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
