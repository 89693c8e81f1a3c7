from __future__ import annotations

import pytest

from tenure.capture.steps.own_cost import describe_excess


@pytest.mark.parametrize(
    ("hooks", "censuses", "held_back", "expected"),
    [
        (19.9, 0.0, True, None),
        (20.1, 0.0, True, "its hooks took 20.1 s, 2.0 % of the run, above the budget of 1 %"),
        (0.0, 500.0, True, None),
        (0.0, 129.0, False, None),
        (0.0, 131.0, False, "its censuses took 131.0 s, 13.1 % of the run, above the budget of 1 %"),
    ],
)
def test_what_is_above_the_budget_beyond_what_is_free_is_said(
    hooks: float, censuses: float, held_back: bool, expected: str | None
) -> None:
    told = describe_excess(
        hook_seconds=hooks,
        census_seconds=censuses,
        budget_percent=1.0,
        elapsed=1000.0,
        censuses_are_held_back=held_back,
    )

    assert told == expected
