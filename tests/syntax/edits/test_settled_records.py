from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.settled_records import settle_record

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
