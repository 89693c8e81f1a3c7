"""A census may be taken in the middle of anything that C code does with the program's objects."""

from __future__ import annotations

import pytest

from programs.start import start

MOMENTS = (
    *("sequences", "tables", "queues", "orders", "texts", "copies"),
    *("classes", "endings", "runs", "numbers", "gradients"),
)


@pytest.mark.slow
def test_censuses_in_the_middle_of_what_c_code_does_end_nothing_and_see_what_is_there() -> None:
    outcome = start("any_moment.py")

    assert (outcome.exit_code, outcome.stdout.split()) == (
        0,
        [word for name in MOMENTS for word in (name, "begins", name, "True")],
    )
