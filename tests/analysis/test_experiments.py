from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from heaps import census
from suspects import finding
from tenure.analysis.experiments import plan_experiments, with_results
from tenure.model.experiment import Drop, ExperimentResult, PlannedExperiment
from tenure.model.finding import Finding, Holder

MIB = 1 << 20
DROP = Drop(source=10, source_type="list", kind="INDEX", label="0", target=0, whole=True)
STORAGES = frozenset({(1, MIB), (2, MIB)})


def claim(rule: str = "TN101", *, moment: str = "step-end", **changes: Any) -> Finding:
    values: dict[str, Any] = {"storages": STORAGES, "drops": (DROP,), "fingerprint": rule, "name": "n", "message": "m"}
    series = {"kind": "series", "moment": moment, "steps": [1, 2, 3]}
    return finding("r", rule=rule, evidence=(series,), **values | changes)


def dropped(freed: int | None, *, predicted: int = 2 * MIB, kind: Any = "drop", failure: str = "") -> ExperimentResult:
    return ExperimentResult(kind, "TN101", "TN101", predicted, freed, other_bytes=0, failure=failure)


def test_each_claim_is_tested_by_dropping_its_references_then_torchs_caches_are_cleared() -> None:
    assert plan_experiments([claim(), claim("TN102", moment="forward-entry")], []) == (
        PlannedExperiment("drop", "TN101", "TN101", (DROP,), STORAGES, "step-end"),
        PlannedExperiment("drop", "TN102", "TN102", (DROP,), STORAGES, "forward-entry"),
        PlannedExperiment("clear caches"),
    )


def test_for_a_ring_a_collection_is_tried_as_well() -> None:
    kinds = [
        (each.kind, each.drops, each.independent) for each in plan_experiments([claim("TN301", symptom="cycle")], [])
    ]
    assert kinds == [("drop", (DROP,), True), ("collect", (), True), ("clear caches", (), False)]


def test_what_has_no_references_no_storages_or_lives_at_the_peak_or_within_a_call_alone_is_not_tested() -> None:
    passing = [claim("TN106", moment=moment) for moment in ("peak", "loading-1", "saving-2")]
    untested = [claim(drops=()), claim(storages=frozenset()), *passing]
    assert plan_experiments(untested, []) == ()


@pytest.mark.parametrize(
    ("before", "freed", "after"),
    [
        ("likely", 2 * MIB, "certain"),
        ("likely", MIB, "likely"),
        ("certain", 2 * MIB, "certain"),
        ("certain", MIB // 2, "likely"),
        ("possible", 2 * MIB, "possible"),
        ("certain", None, "certain"),
    ],
)
def test_a_finding_is_as_sure_as_the_experiment_makes_it(before: Any, freed: int | None, after: str) -> None:
    (tested,) = with_results([claim(confidence=before)], [dropped(freed)])
    assert tested.confidence == after


@pytest.mark.parametrize(
    ("before", "freed", "after"),
    [
        ("certain", 0, "possible"),
        ("likely", 1024, "possible"),
        ("certain", MIB // 2, "likely"),
        ("likely", MIB // 2, "likely"),
        ("certain", None, "certain"),
    ],
)
def test_names_whose_drop_frees_nothing_carry_the_memory_at_most_possibly(
    before: Any, freed: int | None, after: str
) -> None:
    carried = claim(confidence=before, symptom="peak", moment="forward-entry")
    (tested,) = with_results([carried], [dropped(freed)])
    assert tested.confidence == after


def test_growth_that_was_measured_stays_likely_where_a_drop_frees_nothing() -> None:
    (tested,) = with_results([claim(confidence="certain", symptom="growth")], [dropped(0)])
    assert tested.confidence == "likely"


def test_a_finding_without_a_statement_stays_likely() -> None:
    holder = Holder("global", "cache", "cache")
    (tested,) = with_results([claim(confidence="likely", holder=holder)], [dropped(2 * MIB)])
    assert tested.confidence == "likely"


def test_that_nobody_calls_a_module_any_more_is_not_proved_by_dropping_it() -> None:
    facts = {"kind": "facts", "last_called_step": 4}
    resting = dataclasses.replace(claim(confidence="likely"), evidence=(facts,))

    (tested,) = with_results([resting], [dropped(2 * MIB)])

    assert tested.confidence == "likely"


def test_an_experiment_says_nothing_where_most_of_the_memory_was_gone_before() -> None:
    asked = claim(confidence="certain")
    assert with_results([asked], [dropped(0, predicted=MIB // 4)]) == (asked,)


def test_results_are_evidence_of_the_finding_they_are_of() -> None:
    other = claim("TN202")
    tested = with_results([claim(), other], [dropped(2 * MIB)])
    assert tested[1] == other
    assert tested[0].evidence[1:] == (
        {"kind": "experiment", "done": "drop", "predicted_bytes": 2 * MIB, "freed_bytes": 2 * MIB, "other_bytes": 0},
    )


def test_what_goes_only_with_the_next_collection_counts_and_is_told_apart() -> None:
    result = dataclasses.replace(dropped(MIB // 2), collected_bytes=3 * MIB // 2)
    (tested,) = with_results([claim(confidence="likely")], [result])
    assert (tested.confidence, tested.evidence[1:]) == (
        "certain",
        (
            {
                "kind": "experiment", "done": "drop", "predicted_bytes": 2 * MIB, "freed_bytes": MIB // 2,
                "other_bytes": 0, "collected_bytes": 3 * MIB // 2,
            },
        ),
    )  # fmt: skip


def test_what_was_tried_at_two_moments_is_told_where_most_went() -> None:
    results = [dropped(0), dropped(None, failure="gone"), dropped(2 * MIB)]
    (tested,) = with_results([claim(confidence="certain")], results)
    assert (tested.confidence, [item["freed_bytes"] for item in tested.evidence[1:]]) == ("certain", [2 * MIB])


def test_why_an_experiment_failed_is_told_where_none_of_a_finding_succeeded() -> None:
    failed = dropped(None, failure="the owner is gone")
    (tested,) = with_results([claim()], [failed])
    assert tested.evidence[1:] == (
        {
            "kind": "experiment", "done": "drop", "predicted_bytes": 2 * MIB, "freed_bytes": None,
            "failure": "the owner is gone",
        },
    )  # fmt: skip
    (both,) = with_results([claim()], [failed, dropped(MIB, kind="collect")])
    assert [item["done"] for item in both.evidence[1:]] == ["collect"]


@pytest.mark.parametrize(("gone", "freed", "other"), [(3 * MIB, 2 * MIB, MIB), (MIB, MIB, 0)])
def test_what_each_step_makes_anew_is_compared_in_bytes_alone(gone: int, freed: int, other: int) -> None:
    asked = claim(symptom="peak", moment="forward-entry")
    result = ExperimentResult("drop", "TN101", "TN101", predicted_bytes=0, freed_bytes=0, other_bytes=gone)
    (tested,) = with_results([asked], [result])
    assert tested.evidence[1:] == (
        {
            "kind": "experiment", "done": "drop", "predicted_bytes": 2 * MIB, "freed_bytes": freed,
            "other_bytes": other,
        },
    )  # fmt: skip


def test_storages_are_named_by_the_number_that_the_process_knows_them_by() -> None:
    text = "main(t.py:1).a -> tensor#a 1MiB serial=7\nmain(t.py:1).b -> tensor#b 1MiB"
    seen = census(text, step=3)
    addresses = seen.nodes.address[seen.storages.node].tolist()
    storages = frozenset((address, MIB) for address in addresses)

    (drop, *_) = plan_experiments([claim(storages=storages, storages_at=3)], [census("", step=2), seen])

    assert drop.storages == {(number, MIB) for number in seen.storage_identities.tolist()}
    assert sorted(seen.storage_identities.tolist())[0] == -7


def test_drops_are_told_before_collections_whichever_copy_answered_first() -> None:
    results = [
        ExperimentResult(kind, "TN101", "TN101", predicted_bytes=2 * MIB, freed_bytes=2 * MIB)
        for kind in ("collect", "drop")
    ]
    (tested,) = with_results([claim()], results)
    assert [each["done"] for each in tested.evidence[1:]] == ["drop", "collect"]
