from __future__ import annotations

from collections.abc import Callable

import pytest

from heaps import census, growing
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import REBUILT

STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
ROWS = "main.metric -> __main__.Metric -> .rows list#l{v} at=l{v} -> [*{n}] tensor#t{v}p* at=t{v}p* 8KiB\n"
MINE = "train(t.py:9).rows list#l{v} at=l{v} -> [*{n}] tensor#t{v}p* at=t{v}p* 8KiB\n"
KEPT = "main.log -> __main__.Log -> .rows list#kept at=kept -> [*{n}] tensor#k* at=k* 8KiB\n"


def told(
    text: str, count: Callable[[int], int], version: Callable[[int], int] = lambda step: step
) -> list[tuple[str, bool]]:
    """What grows, and whether all of it is made anew each time."""
    found = find_suspects(growing(text, STEPS, n=count, v=version))
    return [(each.holder.expression, REBUILT in each.facts) for each in found if each.symptom == "growth"]


def test_rows_that_a_metric_copies_in_every_step_pile_up() -> None:
    assert told(ROWS, lambda step: step) == [("metric.rows[*]", True)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (MINE, lambda step: step),
        (ROWS, lambda step: 8),
        (ROWS, lambda step: 4 + step % 7),
        (ROWS, lambda step: 1 + step // 8),
    ],
    ids=["a function's work", "as many as before", "up and down", "a copy of what gains one now and then"],
)
def test_what_steps_make_anew_for_themselves_is_no_growth(text: str, count: Callable[[int], int]) -> None:
    assert told(text, count) == []


def test_copies_of_rows_that_stay_are_not_told_beside_them() -> None:
    assert told(KEPT + ROWS, lambda step: step) == [("log.rows[*]", False)]


def test_rows_that_are_the_same_ones_in_another_list_stay() -> None:
    text = ROWS.replace("tensor#t{v}p* at=t{v}p*", "tensor#t* at=t*")

    assert told(text, lambda step: step) == [("metric.rows[*]", False)]


def test_a_few_censuses_show_no_straight_line() -> None:
    drawn = [census(ROWS.format(v=step, n=step), step=step) for step in (1, 2, 3, 4, 6)]

    assert find_suspects(drawn) == ()
