from __future__ import annotations

import pytest

from tenure.fixing.measured import find_growth

MIB = 1 << 20


@pytest.mark.parametrize(
    ("mebibytes", "growth"),
    [
        ([50, 60, 70, 80, 90, 100, 110, 120], 10.0 * MIB),
        ([50, 60, 60, 60, 60, 60, 60, 60], 0.0),
        ([50, 61, 60, 63, 61, 60, 62, 61], 0.0),
        ([50, 60, 90, 60, 90, 60, 90, 60], 0.0),
        ([50, 60], None),
    ],
)
def test_what_is_alive_grows_or_not_however_many_bytes_it_falls_by(mebibytes: list[int], growth: float | None) -> None:
    alive = {step: each * MIB for step, each in enumerate(mebibytes, start=1)}
    assert find_growth(alive) == growth
