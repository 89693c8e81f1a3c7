"""With fake tensors in place of a model's memory, a plan is what it is with that memory: byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planning.models import MODELS
from planning.saved import recorded
from tenure.capture.faking.fake_memory import begin_fake_memory
from tenure.model.stream import StepStream

ROUTES_BY_VALUES = "mixture_of_experts"
WORKSPACE_OF_HOST = "lstm"
CHOSEN = ("in_place", "resnet", "lstm", "encoder", "custom_function", "checkpointing", "autocast", "second_order")
"""The others are variations for `make thorough`."""


def rows_on_device(stream: StepStream) -> list[tuple[Any, ...]]:
    profile, storages, owners = stream.profile, stream.profile.storages, stream.owners
    texts = [[profile.text(number) for number in column.tolist()] for column in (storages.dtype, storages.shape)]
    columns = [storages.bytes, storages.birth, storages.last_use, storages.death]
    columns += [owners.owner, owners.kept_from, owners.kept_to, owners.met_bytes, owners.on_device]
    rows = zip(*texts, *(column.tolist() for column in columns), strict=True)
    return sorted(row for row in rows if row[-1])


def names_of(stream: StepStream) -> list[str]:
    return [stream.profile.text(number) for number in stream.profile.operations.name.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in CHOSEN else pytest.mark.thorough)
        for name in MODELS
        if name != ROUTES_BY_VALUES
    ],
)
def test_fake_tensors_live_and_die_as_the_tensors_that_they_stand_for(name: str, tmp_path: Path) -> None:
    as_it_is = recorded(MODELS[name], tmp_path / "as-it-is")
    memory = begin_fake_memory()
    try:
        faked = recorded(MODELS[name], tmp_path / "faked")
    finally:
        memory.end()

    expected = rows_on_device(as_it_is)
    if name == WORKSPACE_OF_HOST:
        expected = [row for row in expected if row[0] != "uint8"]  # of oneDNN, which no device has
    assert names_of(faked) == names_of(as_it_is)
    assert rows_on_device(faked) == expected


@pytest.mark.slow
def test_where_values_decide_which_rows_an_expert_gets_no_plan_is_made(tmp_path: Path) -> None:
    memory = begin_fake_memory()
    try:
        with pytest.raises(SystemExit, match=r"models\.py:\d+ in loss: what aten\.nonzero\.default gives depends on"):
            recorded(MODELS[ROUTES_BY_VALUES], tmp_path)
    finally:
        memory.end()
