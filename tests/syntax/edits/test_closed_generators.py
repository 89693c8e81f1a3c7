from __future__ import annotations

from edit_texts import new_lines, source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.closed_generators import close_behind_loops

FOLD = """
class Fold:
    def fit(self, limit):
        for batch in self.feed:
            if self.update(batch) > limit:
                break
        return self

    def peek(self, other):
        for batch in self.feed:
            print(batch)
        for batch in other.feed:
            if batch:
                break
"""


def test_a_generator_is_closed_behind_each_loop_that_may_leave_it_early() -> None:
    source = source_of(FOLD)

    assert new_lines(source, close_behind_loops([SourceFile("bad.py", "("), source], "feed")) == [
        "self.feed.close()",
        "other.feed.close()",
    ]
    assert list(close_behind_loops([source], "batches")) == []
