"""What a plan says that graphs keep at the end of forward is what a census finds there, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from planning.models import MODELS
from planning.saved import found_by_census, planned, without_dynamo


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_saved_bytes_are_those_that_a_census_finds(name: str, tmp_path: Path) -> None:
    plan = planned(MODELS[name], tmp_path)

    with without_dynamo():
        found = found_by_census(MODELS[name])
    assert plan.saved_bytes == found > 0
