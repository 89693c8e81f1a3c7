"""Rows of a tail by column: the same numbers, whichever parts they came in."""

from __future__ import annotations

import pytest

from tenure.store import tail_columns
from tenure.store.format import MISSING
from tenure.store.tail_columns import TailColumns


def row(step: int, **counters: int) -> dict[str, object]:
    return {"step": step, "time": step / 4, "seconds": 0.25, "counters": counters}


def test_no_rows_have_empty_columns() -> None:
    assert (len(TailColumns()), TailColumns().names) == (0, ("step", "time", "seconds"))
    assert TailColumns().column("step").tolist() == []


@pytest.mark.parametrize("most_parts", [1, 64])
def test_counters_that_come_and_go_are_missing_where_they_are_not(
    monkeypatch: pytest.MonkeyPatch, most_parts: int
) -> None:
    monkeypatch.setattr(tail_columns, "MOST_PARTS", most_parts)
    tail = TailColumns()
    for rows in ([row(1, a=5), row(2, a=6, b=7)], [], [row(3)], [row(4, b=8)]):
        tail.add(rows)

    assert tail.names == ("step", "time", "seconds", "counters.a", "counters.b")
    assert tail.column("step").tolist() == [1, 2, 3, 4]
    assert tail.column("time").tolist() == [250_000, 500_000, 750_000, 1_000_000]
    assert tail.column("counters.a").tolist() == [5, 6, MISSING, MISSING]
    assert tail.column("counters.b").tolist() == [MISSING, 7, MISSING, 8]


def test_later_rows_are_told_by_time_and_stay_as_they_were() -> None:
    tail = TailColumns()
    tail.add([row(1), row(2)])
    tail.add([row(3)])
    later, all_of_them = tail.after(250_000), tail.after(None)
    tail.add([row(4)])

    assert later.column("step").tolist() == [2, 3]
    assert all_of_them.column("step").tolist() == [1, 2, 3]
    assert len(tail.after(9_000_000)) == 0


def test_numbers_that_no_counter_has_are_left_out() -> None:
    tail = TailColumns()
    tail.add([row(1, a=1 << 70), row(2, a=3)])

    assert tail.column("counters.a").tolist() == [MISSING, 3]
