from __future__ import annotations

import pytest

from edit_texts import source_of
from tenure.syntax.edits.unread_parts import leave_out_unread

RESULTS = """
@dataclass
class Result:
    accuracy: float
    learner: nn.Module
class Trainer:
    def summary(self, accuracy, learner):
        return Result(accuracy, learner)
    def row(self, fold, fitted):
        return {"fold": fold, "score": fitted.score}
"""


def left_out(kind: str, label: str, more: str = "") -> list[str | None]:
    return [edit.after for edit in leave_out_unread([source_of(RESULTS), source_of(more)], kind, label)]


def test_a_field_that_nobody_reads_is_given_none() -> None:
    assert left_out("Result", ".learner") == ["        return Result(accuracy, None)"]


def test_a_key_that_nobody_reads_is_given_none() -> None:
    assert left_out("dict", "['score']") == ['        return {"fold": fold, "score": None}']


@pytest.mark.parametrize(
    "reads",
    [
        "print(result.learner)",
        "print(getattr(result, 'learner'))",
        "Result(0.5, other)",
    ],
)
def test_a_field_that_is_read_or_given_in_two_places_stays(reads: str) -> None:
    assert left_out("Result", ".learner", reads) == []


@pytest.mark.parametrize("reads", ["print(row['score'])", "itemgetter('score')(row)", "{'score': 2 * x}"])
def test_a_key_that_is_read_or_written_in_two_places_stays(reads: str) -> None:
    assert left_out("dict", "['score']", reads) == []


def test_what_is_no_field_of_the_programs_own_class_stays() -> None:
    assert left_out("Linear", ".learner") == []
    assert left_out("Result", "[0]") == []
