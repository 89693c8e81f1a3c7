from dataclasses import replace
from typing import Any

import pytest

from suspects import HISTORY, TRAIN, finding, suspect
from tenure.model.finding import CutReference, Holder
from tenure.rules.cycle_waits_for_collector import check_suspect, retell

REMEDY = (
    "break the ring: hold the owner weakly (`weakref.ref`, `weakref.proxy`), pass it as an argument, or set "
    "the reference to None when done; do not copy objects that refer back to their owner"
)
RING = replace(HISTORY, kind="cycle", name="normalise", expression="Rollout.normalise")


def test_memory_that_only_a_ring_holds_waits_for_the_collector() -> None:
    assert check_suspect(suspect(symptom="cycle", cyclic=True, holder=RING)) == finding(
        REMEDY,
        rule="TN301",
        name="cycle-waits-for-collector",
        message="`Rollout.normalise` closes a reference cycle that holds 3.00 MiB no one can use any more; "
        "only the cyclic collector frees it.",
        symptom="cycle",
        holder=Holder("cycle", "normalise", "Rollout.normalise", TRAIN, 24, "fit"),
        cut=(CutReference("normalise", TRAIN, 24),),
    )


def test_a_ring_that_a_library_closes_is_to_be_collected() -> None:
    found = check_suspect(suspect(symptom="cycle", cyclic=True, holder=RING, holder_is_yours=False))

    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == [
        "`gc.collect()` every few steps, where such objects are made: no statement of the program's own closes the "
        "ring; or change the object in place, so that no other is made"
    ]


def test_of_objects_with_a_ring_inside_one_is_enough() -> None:
    made = replace(RING, library_sites=RING.sites)
    found = check_suspect(suspect(symptom="cycle", cyclic=True, holder=made))

    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == [
        "make such an object once and use it again, as a metric by its `reset()`; or call `gc.collect()` every few "
        "steps: the ring is inside of it"
    ]


def test_memory_that_a_root_reaches_does_not() -> None:
    assert check_suspect(suspect()) is None


def message_of(**facts: object) -> str:
    found = check_suspect(suspect(symptom="cycle", cyclic=True, holder=RING, facts=facts))
    assert found is not None
    return found.message


def test_that_the_collector_frees_it_is_not_said_where_cpp_owns_part_of_the_ring() -> None:
    assert message_of(owned_by_cpp_too=True) == (
        "`Rollout.normalise` closes a reference cycle that holds 3.00 MiB no one can use any more; "
        "C++ code owns part of it too, so that the cyclic collector may not free it."
    )


def test_what_a_pack_hook_gave_back_as_it_was_has_a_remedy_of_its_own() -> None:
    call = replace(HISTORY, kind="hook", name="saved_tensors_hooks", expression="saved_tensors_hooks")
    packed = suspect(symptom="cycle", cyclic=True, holder=call, facts={"packed_as_it_is": True})

    found = check_suspect(packed)

    assert found is not None
    assert found.message == (
        "The pack hook of `saved_tensors_hooks` gives tensors back as they are, which closes a reference cycle that "
        "holds 3.00 MiB no one can use any more; only the cyclic collector frees it."
    )
    assert [remedy.summary for remedy in found.remedies] == [
        "let the pack hook return `tensor.detach()`: a graph node that saves its own result as it is refers to itself"
    ]


@pytest.mark.parametrize(
    ("freed", "said"),
    [
        (3 << 20, "only the cyclic collector frees it."),
        (0, "C++ code owns part of it too, so that not even a collection frees it."),
        (1 << 20, "a collection frees 1.00 MiB of 3.00 MiB, the rest C++ code owns too."),
    ],
)
@pytest.mark.parametrize("facts", [{}, {"owned_by_cpp_too": True}])
def test_the_sentence_follows_what_a_collection_freed(freed: int, said: str, facts: dict[str, Any]) -> None:
    found = check_suspect(suspect(symptom="cycle", cyclic=True, holder=RING, facts=facts))
    assert found is not None
    dropped = {"kind": "experiment", "done": "drop", "predicted_bytes": 3 << 20, "freed_bytes": 3 << 20}
    tested = replace(found, evidence=(*found.evidence, dropped, {**dropped, "done": "collect", "freed_bytes": freed}))

    assert retell(tested) == replace(
        tested,
        message=f"`Rollout.normalise` closes a reference cycle that holds 3.00 MiB no one can use any more; {said}",
    )


def test_the_sentence_stays_where_no_collection_was_tried() -> None:
    found = check_suspect(suspect(symptom="cycle", cyclic=True, holder=RING))
    assert found is not None
    failed = {"kind": "experiment", "done": "collect", "predicted_bytes": 3 << 20, "freed_bytes": None}
    tested = replace(found, evidence=(*found.evidence, failed))

    assert (retell(found), retell(tested)) == (found, tested)


@pytest.mark.parametrize(
    ("retained", "rate", "confidence"),
    [
        (2 << 10, 54.0, "possible"),
        (2 << 10, 2048.0, "possible"),
        (2 << 10, 16384.0, "certain"),
        (64 << 10, None, "certain"),
        (2 << 10, None, "possible"),
    ],
)
def test_a_small_ring_that_comes_to_little_is_a_hint(retained: int, rate: float | None, confidence: str) -> None:
    ring = suspect(symptom="cycle", cyclic=True, holder=RING, retained_bytes=retained, growth_bytes_per_step=rate)
    found = check_suspect(ring)

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(("retained", "rate", "told"), [(12, 0.0, False), (12, 4.0, True), (1 << 10, 0.0, True)])
def test_a_ring_of_a_few_numbers_is_told_where_it_gets_more_of_them(retained: int, rate: float, told: bool) -> None:
    ring = suspect(symptom="cycle", cyclic=True, holder=RING, retained_bytes=retained, growth_bytes_per_step=rate)

    assert (check_suspect(ring) is not None) is told
