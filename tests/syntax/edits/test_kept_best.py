from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.kept_best import keep_best

PODIUM = """
class Podium:
    def offer(self, score, state):
        {added}  # here

    def best(self, count):
        return {read}
"""


def best(read: str, added: str = "self.rows.append((score, state))") -> list[str]:
    source = source_of(PODIUM.format(added=added, read=read))
    return changes(source, keep_best([source], source, line_of(source), "rows"))


@pytest.mark.parametrize(
    ("read", "after"),
    [
        ("min(self.rows, key=lambda row: row[0])", "self.rows[:] = [min(self.rows, key=lambda row: row[0])]"),
        ("max(self.rows) if self.rows else None", "self.rows[:] = [max(self.rows)]"),
        ("sorted(self.rows, reverse=True)[:3]", "self.rows[:] = sorted(self.rows, reverse=True)[:3]"),
        ("sorted(self.rows)[0]", "self.rows[:] = sorted(self.rows)[:1]"),
        ("heapq.nsmallest(5, self.rows)", "self.rows[:] = heapq.nsmallest(5, self.rows)"),
    ],
)
def test_a_list_keeps_the_best_where_nothing_else_is_asked_for(read: str, after: str) -> None:
    assert best(read) == [after]


def test_a_heap_pops_its_smallest() -> None:
    pushed = "heapq.heappush(self.rows, (score, state))"

    assert best("heapq.nlargest(self.places, self.rows)", pushed) == [
        "if len(self.rows) > self.places:",
        "heapq.heappop(self.rows)",
    ]


@pytest.mark.parametrize(
    "read",
    [
        "sum(self.rows)",
        "min(self.rows), max(self.rows)",
        "heapq.nlargest(count, self.rows)",
        "sorted(self.rows)[-1]",
        "1",
    ],
)
def test_other_lists_stay(read: str) -> None:
    assert best(read) == []
