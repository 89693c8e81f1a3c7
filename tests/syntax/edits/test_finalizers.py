from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.finalizers import finalize_without_owner

SEGMENT = """
class Segment:
    def __init__(self, ledger):
        self.ledger = ledger
        weakref.finalize({given})  # here

    def _retire(self):
        {body}
"""


def finalized(given: str, body: str) -> list[str]:
    source = source_of(SEGMENT.format(given=given, body=body))
    return changes(source, finalize_without_owner(source, line_of(source)))[1:]


def test_a_finalizer_is_given_what_its_method_calls_and_not_the_object() -> None:
    assert finalized("self, self._retire", "self.ledger.discard(self.key, size=1)") == [
        "weakref.finalize(self, self.ledger.discard, self.key, size=1)  # here"
    ]


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ("self, self._retire", "self.close()"),
        ("self, self._retire", "self.ledger.discard(self)"),
        ("self, self._retire", "return self.ledger.discard(self.key)"),
        ("self, self._retire, 1", "self.ledger.discard(self.key)"),
        ("other, self._retire", "self.ledger.discard(self.key)"),
        ("self, self.missing", "self.ledger.discard(self.key)"),
    ],
)
def test_a_finalizer_that_would_call_another_thing_stays(given: str, body: str) -> None:
    assert finalized(given, body) == []
