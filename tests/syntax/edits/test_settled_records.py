from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.settled_records import log_as_text, settle_record

KEPT = """
{imported}
class Keeper(logging.Handler):
    def emit(self, record):
        self.records.append({value})  # here
"""


@pytest.mark.parametrize(
    ("imported", "value", "is_settled"),
    [
        ("import logging", "record", True),
        ("from logging import Handler", "record", False),
        ("import logging", "str(record)", False),
    ],
)
def test_a_kept_record_lets_go_of_its_arguments(imported: str, value: str, is_settled: bool) -> None:
    source = source_of(KEPT.format(imported=imported, value=value))
    settled = [
        "logging.Formatter().format(record)",
        "record.msg, record.args, record.exc_info = record.getMessage(), (), None",
    ]

    assert changes(source, settle_record(source, line_of(source), "records")) == (settled if is_settled else [])


@pytest.mark.parametrize(
    ("called", "at", "expected"),
    [
        ('log.debug("%d %s", step, scores.margin)', 1, 'log.debug("%d %s", step, str(scores.margin))'),
        ('log.debug("%d %s", step, scores.margin)', 2, None),
        ('log.debug("%d %s", *given)', 0, None),
        ('show("%d %s", step, scores.margin)', 1, None),
    ],
)
def test_an_argument_of_a_record_is_given_as_text(called: str, at: int, expected: str | None) -> None:
    source = source_of(f"def update(step, scores):\n    {called}  # here\n")

    edits = log_as_text(source, line_of(source), at)
    assert changes(source, edits)[1:] == ([f"{expected}  # here"] if expected else [])
