from __future__ import annotations

import pytest

from edit_texts import new_lines, source_of
from tenure.syntax.edits.ended_subscriptions import end_subscriptions

BUS = """
class Bus:
    def subscribe(self, topic, limit=0):
        inbox = Queue(limit)
        self._topics[topic].append(inbox)
        return inbox

    def {ends}(self, {takes}):
        self._topics[topic].{removes}(inbox)

def calibrate(bus):
    inbox = bus.subscribe({given})
    sample = inbox.get(){meanwhile}
    return sample
"""


def ended(
    ends: str = "unsubscribe",
    takes: str = "topic, inbox",
    removes: str = "remove",
    given: str = '"seen"',
    meanwhile: str = "",
) -> list[str]:
    text = BUS.format(ends=ends, takes=takes, removes=removes, given=given, meanwhile=meanwhile)
    source = source_of(text)
    return new_lines(source, end_subscriptions([source], "_topics"))


def test_who_subscribes_unsubscribes_at_its_end_by_the_method_that_takes_out() -> None:
    assert ended() == ['bus.unsubscribe("seen", inbox)']
    assert ended(given='limit=3, topic="seen"') == ['bus.unsubscribe("seen", inbox)']
    assert ended(ends="leave", takes="inbox, topic", removes="discard") == ['bus.leave(inbox, "seen")']


@pytest.mark.parametrize(
    "changed",
    [
        {"removes": "append"},
        {"takes": "topic, inbox, reason"},
        {"takes": "topic"},
        {"meanwhile": '; bus.unsubscribe("seen", inbox)'},
        {"given": "*topics"},
    ],
)
def test_nothing_is_ended_that_ends_or_cannot_be_told(changed: dict[str, str]) -> None:
    assert ended(**changed) == []


def test_a_file_that_cannot_be_parsed_ends_nothing() -> None:
    assert list(end_subscriptions([source_of("class Bus(:\n")], "_topics")) == []
