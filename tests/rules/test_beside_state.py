from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HISTORY, MIB, suspect
from tenure.model.suspect import BESIDE_STATE, GIVEN, UNREAD, HoldingReference
from tenure.rules.idle_at_peak import check_suspect

SHARDS = replace(HISTORY, kind="local", name="shards", expression="shards", element=False, container_type="")
CALL = HoldingReference("unknown", "load_state_dict", "load_state_dict(...)", sites=HISTORY.sites)
LIES = "beside the model that loads it: no step of the run needs as much memory."


def told(
    *cut: HoldingReference, holder: HoldingReference = SHARDS, drop: int = 3, **facts: object
) -> tuple[str, str, str]:
    at_call = {BESIDE_STATE: "loading", **facts}
    found = check_suspect(
        suspect(holder=holder, cut=cut, facts=at_call, symptom="peak", peak_bytes=20 * MIB, peak_drop_bytes=drop * MIB)
    )
    assert found is not None
    assert found.rule == "TN106"
    return found.message, found.confidence, found.remedies[0].summary


def test_more_than_what_is_loaded_is_likely_where_nobody_reads_it_again() -> None:
    message, sure, remedy = told(SHARDS, **{UNREAD: True})

    assert message == "`shards` holds more than what is loaded then: no step of the run needs as much memory."
    assert sure == "likely"
    assert remedy.startswith("`torch.load(..., mmap=True)`, so that what is not used is not read from the file;")


@pytest.mark.parametrize("changes", [{}, {UNREAD: True, "drop": 1}, {UNREAD: True, GIVEN: True}])
def test_what_is_read_again_takes_little_or_is_loaded_itself_is_a_hint(changes: dict[str, object]) -> None:
    assert told(SHARDS, **changes)[1] == "possible"


def test_what_a_call_is_given_is_told_by_its_name_or_by_the_call() -> None:
    named, nameless = told(SHARDS, **{GIVEN: True}), told(holder=CALL, **{GIVEN: True})

    assert named[0] == f"`shards` lies {LIES}"
    assert nameless[0] == f"What `load_state_dict(...)` is given lies {LIES}"
    assert "`load_state_dict(..., assign=True)`" in named[2]


def test_a_copy_that_is_made_to_be_saved_is_a_hint() -> None:
    message, sure, remedy = told(SHARDS, **{BESIDE_STATE: "saving", GIVEN: True, UNREAD: True})

    assert message == "`shards`, made to be saved, lies beside the model: no step of the run needs as much memory."
    assert sure == "possible"
    assert remedy.startswith("save the tensors themselves")


def test_what_lies_on_a_device_is_to_be_read_into_the_host_s_memory() -> None:
    facts = {BESIDE_STATE: "loading", GIVEN: True}
    found = check_suspect(suspect(holder=SHARDS, cut=(SHARDS,), facts=facts, symptom="peak", device="cuda:0"))

    assert found is not None
    assert found.remedies[0].summary.startswith('`torch.load(..., map_location="cpu")`')
