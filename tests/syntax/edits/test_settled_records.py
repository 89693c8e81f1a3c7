from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.settled_records import change_logged, lines_that_log, settle_record

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


LOGGED = 'log.debug("%d %s", step, scores.margin)'


@pytest.mark.parametrize(
    ("called", "at", "pattern", "expected"),
    [
        (LOGGED, 1, "str({})", 'log.debug("%d %s", step, str(scores.margin))'),
        (LOGGED, 1, "{}.detach()", 'log.debug("%d %s", step, scores.margin.detach())'),
        (LOGGED, 2, "str({})", None),
        ('log.debug("%d %s", *given)', 0, "str({})", None),
        ('show("%d %s", step, scores.margin)', 1, "str({})", None),
    ],
)
def test_an_argument_of_a_record_is_given_as_text_or_detached(
    called: str, at: int, pattern: str, expected: str | None
) -> None:
    source = source_of(f"def update(step, scores):\n    {called}  # here\n")

    edits = change_logged(source, line_of(source), at, pattern)
    assert changes(source, edits)[1:] == ([f"{expected}  # here"] if expected else [])


def test_calls_that_log_are_told_by_how_much_they_are_given() -> None:
    source = source_of(f"{LOGGED}\nlog.info('done')\nlog.warning('%d %d', 1, 2)\nshow('%d %d', 1, 2)\n")

    assert list(lines_that_log([source, source_of("log.info(")], 2)) == [(source, 1), (source, 3)]
