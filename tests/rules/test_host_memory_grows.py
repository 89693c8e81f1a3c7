from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, carried, finding, suspect
from tenure.model.suspect import HoldingReference, Suspect
from tenure.rules.host_memory_grows import check_suspect

REMEDY = (
    "write it to disk and keep the path, keep the best few or the last few (`deque(maxlen=n)`), or keep a sum of it"
)


def test_a_list_of_bytes_that_only_grows() -> None:
    assert check_suspect(SPECIMENS["TN601"]) == finding(
        REMEDY,
        message="`history[*]` grows in the host's memory by 1.00 MiB per step of `bytes`, and loses none.",
        rule="TN601",
        name="host-memory-grows",
        device="host",
        evidence=(*finding(REMEDY, rule="", name="", message="").evidence, {"kind": "facts", "host_type": "bytes"}),
    )


POSSIBLE = {
    "a library's cache that fills slowly": replace(
        SPECIMENS["TN601"], path=SPECIMENS["TN205"].path, growth_bytes_per_step=9000.0, holder_is_yours=False
    ),
    "what grows slowly": suspect(device="host", growth_bytes_per_step=2048.0),
    "what a library keeps": suspect(device="host", holder_is_yours=False),
}


@pytest.mark.parametrize("slow", POSSIBLE.values(), ids=POSSIBLE)
def test_is_a_mere_possibility(slow: Suspect) -> None:
    found = check_suspect(slow)

    assert found is not None
    assert (found.rule, found.confidence) == ("TN601", "possible")


OTHERS = {
    "much in a function's cache": replace(
        SPECIMENS["TN601"], path=SPECIMENS["TN205"].path, growth_bytes_per_step=300 * 1024.0
    ),
    "tensors are another cause, on the CPU too": suspect(),
    "what does not grow is none": carried(device="host"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None


def test_threads_that_pile_up_are_told_by_what_they_run() -> None:
    facts = {"counted": "threads", "first_count": 1, "last_count": 9, "thread": "Loader.fill", "thread_file": "a.py"}
    found = check_suspect(suspect(device="cpu", facts=facts))

    assert found is not None
    assert (found.rule, found.confidence) == ("TN601", "likely")
    assert found.message == "9 threads of `Loader.fill` at step 3, 1 at step 1: they are started and do not end."


def test_open_files_without_a_place_are_a_possibility() -> None:
    nowhere = HoldingReference(kind="unknown", name="files", expression="files")
    facts = {"counted": "files", "first_count": 5, "last_count": 9}
    found = check_suspect(suspect(device="host", holder=nowhere, path=(), facts=facts))

    assert found is not None
    assert (found.confidence, found.message) == (
        "possible",
        "9 open files at step 3, 5 at step 1: they are opened and not closed.",
    )


def test_segments_of_shared_memory_are_told() -> None:
    found = check_suspect(suspect(device="host", facts={"counted": "shared", "first_count": 5, "last_count": 9}))

    assert found is not None
    assert (found.confidence, found.message) == (
        "likely",
        "9 shared-memory files at step 3, 5 at step 1: they are mapped and not let go.",
    )


@pytest.mark.parametrize(
    ("in_use", "why"),
    [
        (True, "its blocks are in use"),
        (False, "its blocks are free, and new sizes come: none is given back"),
        (None, "its blocks are in use, or free while new sizes come (before torch 2.13 nothing tells which)"),
    ],
)
def test_pinned_memory_that_grows_is_told(in_use: bool | None, why: str) -> None:
    found = check_suspect(suspect(symptom="host", device="host", path=(), cut=(), facts={"pinned_in_use": in_use}))

    assert found is not None
    assert (found.rule, found.confidence) == ("TN601", "likely")
    assert found.message == f"Pinned memory of the host grows by 1.00 MiB per step from step 1 to 3: {why}."
