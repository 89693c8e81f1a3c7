from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HISTORY, carried, finding, suspect
from tenure.model.suspect import Falls
from tenure.rules.device_scalars_kept_between_logs import check_suspect

REMEDY = (
    "add each into one running tensor on the device (`total += loss.detach()`, a counter beside it) and read "
    "it with `.item()` only when logging: constant memory, no synchronisation per step"
)
IDENTITY = {"rule": "TN201", "name": "device-scalars-kept-between-logs"}


def test_one_scalar_more_each_step_is_a_scalar_kept() -> None:
    assert check_suspect(suspect(scalars=True)) == finding(
        REMEDY, message="`history[*]` gains 1 scalar tensor per step.", **IDENTITY
    )


def test_views_of_larger_storages_are_told_as_such() -> None:
    assert check_suspect(suspect(scalars=True, pinned_bytes=4096, growth_objects_per_step=2.0)) == finding(
        REMEDY,
        message="`history[*]` gains 2 scalar tensors per step. "
        "Each is a view of a larger storage, which stays with it.",
        growth_objects_per_step=2.0,
        **IDENTITY,
    )


def test_a_sawtooth_tells_its_period() -> None:
    assert check_suspect(suspect(scalars=True, symptom="sawtooth", period_steps=50)) == finding(
        REMEDY,
        message="`history[*]` gains 1 scalar tensor per step, until it is emptied every 50 steps.",
        symptom="sawtooth",
        **IDENTITY,
    )


@pytest.mark.parametrize(
    ("objects", "pinned", "confidence"),
    [(10, 0, "possible"), (2047, 0, "possible"), (2048, 0, "certain"), (10, 4096, "certain"), (None, 0, "certain")],
)
def test_a_few_scalars_that_go_with_the_next_log_are_a_hint(objects: int | None, pinned: int, confidence: str) -> None:
    falls = Falls(amplitude_bytes=40, amplitude_objects=objects, every_steps=10)

    found = check_suspect(suspect(scalars=True, symptom="sawtooth", falls=falls, pinned_bytes=pinned))

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(
    ("pace", "size", "pinned", "confidence"),
    [(0.12, 28, 0, "possible"), (0.12, 28, 4096, "certain"), (1.0, 28, 0, "certain"), (0.12, 1 << 20, 0, "certain")],
)
def test_a_curve_of_one_point_per_epoch_is_a_hint(pace: float, size: int, pinned: int, confidence: str) -> None:
    points = suspect(scalars=True, growth_objects_per_step=pace, retained_bytes=size, pinned_bytes=pinned)

    found = check_suspect(points)

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(
    ("yours", "objects", "pinned", "confidence"),
    [(False, 10, 0, "possible"), (False, 2048, 0, "certain"), (False, 10, 4096, "certain"), (True, 10, 0, "certain")],
)
def test_a_few_scalars_that_a_library_records_by_itself_are_a_hint(
    yours: bool, objects: int, pinned: int, confidence: str
) -> None:
    kept = suspect(scalars=True, holder_is_yours=yours, num_objects=objects, pinned_bytes=pinned)

    found = check_suspect(kept)

    assert found is not None
    assert found.confidence == confidence


def test_scalars_of_several_names_agree_with_their_verb() -> None:
    found = check_suspect(suspect(scalars=True, cut=(HISTORY, replace(HISTORY, name="accuracies"))))

    assert found is not None
    assert found.message == "`history` and `accuracies` gain 1 scalar tensor per step."


def test_scalars_with_a_graph_tensors_of_more_elements_and_steady_scalars_are_none() -> None:
    others = (suspect(scalars=True, through_graph=True), suspect(), carried(scalars=True))

    assert [check_suspect(other) for other in others] == [None, None, None]
