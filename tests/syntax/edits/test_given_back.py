"""What a class gives to the interpreter, taken back where its work ends."""

from __future__ import annotations

import pytest

from edit_texts import line_of, source_of
from tenure.syntax.edits.given_back import take_back
from tenure.syntax.edits.line_edits import apply_edits

WATCH = """
class Watch:
    def __enter__(self):
        {before}
        {given}  # here
        return self

    def {end}(self, *error):
        self.done = True
"""


def added(given: str, before: str = "pass", end: str = "__exit__") -> list[list[str]]:
    source = source_of(WATCH.format(given=given, before=before, end=end))
    old = source.text.splitlines()
    texts = [apply_edits(source.text, edits).splitlines() for edits in take_back(source, line_of(source))]
    assert all(new[: len(old)] == old for new in texts)
    return [[line.strip() for line in new[len(old) :]] for new in texts]


@pytest.mark.parametrize(
    ("given", "before", "back"),
    [
        ("gc.callbacks.append(self.watch)", "pass", "gc.callbacks.remove(self.watch)"),
        ("gc.callbacks.append(watch)", "self.watch = watch", "gc.callbacks.remove(self.watch)"),
        ("atexit.register(self.write, 3)", "pass", "atexit.unregister(self.write)"),
        ("logging.getLogger().addHandler(self)", "pass", "logging.getLogger().removeHandler(self)"),
    ],
)
def test_what_is_given_is_taken_back_where_the_work_ends(given: str, before: str, back: str) -> None:
    assert added(given, before)[0] == [back]


def test_a_function_that_closes_a_ring_with_its_object_goes_too() -> None:
    assert added("gc.callbacks.append(self.watch)")[1] == ["gc.callbacks.remove(self.watch)", "self.watch = None"]


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ("gc.callbacks.append(self.watch)", "line"),
        ("gc.callbacks.append(watch)", "__exit__"),
        ("callbacks.append(self.watch)", "__exit__"),
        ("gc.callbacks.append(other.watch)", "__exit__"),
    ],
)
def test_what_is_not_the_objects_own_or_has_no_end_stays(given: str, end: str) -> None:
    assert added(given, end=end) == []
