from __future__ import annotations

import dataclasses

import pytest

from suspects import LIBTORCH, SPECIMENS, TRAIN
from tenure.model.finding import Finding, Holder
from tenure.rules.native_memory_grows import check_suspect


def found_with(**changes: object) -> Finding:
    facts = {"native_growth": {**LIBTORCH, **changes}}
    found = check_suspect(dataclasses.replace(SPECIMENS["TN603"], facts=facts))
    assert found is not None
    return found


def test_growth_that_a_known_issue_fits_is_told_with_it_and_claims_no_holder() -> None:
    found = found_with()

    assert (found.rule, found.symptom, found.confidence, found.cut, found.path) == ("TN603", "host", "likely", (), ())
    assert found.holder == Holder("unknown", "aten.convolution", "aten.convolution", TRAIN, 14, "Tagger.forward")
    assert found.message == (
        "The process grows by 1.00 MiB per step from step 1 to 3, and no tensor, container or cache that a census "
        "shows accounts for it. `aten.convolution` in the forward pass fits a known issue: oneDNN keeps a compiled "
        "primitive and its scratch memory for every new input shape, 1024 of them (pytorch/pytorch#32037)."
    )
    assert [each["id"] for each in found.evidence[-1]["known_issues"]] == ["onednn-primitives-by-shape"]


def test_a_profiler_that_runs_is_the_cause() -> None:
    found = check_suspect(dataclasses.replace(SPECIMENS["TN603"], facts={"profiler_runs": True}))

    assert found is not None
    assert (found.rule, found.confidence, found.cut) == ("TN603", "likely", ())
    assert found.message == (
        "A profiler recorded every step and keeps each event in the host's memory until it stops: the process grows by "
        "1.00 MiB per step."
    )


def test_without_an_issue_that_fits_it_is_a_possibility_without_a_place() -> None:
    found = found_with(shapes_vary=False)

    assert (found.confidence, found.holder.name, found.holder.file) == ("possible", "native memory", None)
    assert found.message.endswith("native memory (caches of libraries, extension modules), or many small objects.")


@pytest.mark.parametrize(
    "change",
    [{"keeps_pace": False}, {"is_short": True}, {"operators": [{**LIBTORCH["operators"][0], "file": ""}]}],
    ids=["slows down", "short", "no place"],
)
def test_what_slows_down_was_seen_shortly_or_has_no_place_is_a_possibility(change: dict[str, object]) -> None:
    assert found_with(**change).confidence == "possible"


def test_a_process_without_a_profiled_step_has_no_operators() -> None:
    assert found_with(operators=[], devices=[], shapes_vary=False).confidence == "possible"


@pytest.mark.parametrize(("beside", "num_remedies"), [(True, 2), (False, 1)])
def test_other_growth_that_is_told_is_to_be_mended_first(beside: bool, num_remedies: int) -> None:
    remedies = [remedy.summary for remedy in found_with(operators=[], beside_growth=beside).remedies]

    assert len(remedies) == num_remedies
    assert remedies[0].startswith("mend the growth that is told beside this one first") is beside
