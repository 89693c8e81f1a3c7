from __future__ import annotations

import numpy as np
import pytest

from analysis.watching.simulated import KIB, MIB
from tenure.analysis.watching.filling import filling_of

STEPS = np.arange(151.0, 501.0)
AT = STEPS - STEPS[0]
NOISE = np.random.default_rng(0).normal(0, 10 * KIB, len(STEPS))


@pytest.mark.parametrize("time", [6.0, 20.0, 60.0])
@pytest.mark.parametrize("per_step", [0.0, KIB, -KIB])
def test_a_filling_is_found_on_top_of_a_line(time: float, per_step: float) -> None:
    filling = -5 * MIB * np.exp(-AT / time)

    found = filling_of(STEPS, 900 * MIB + per_step * STEPS + filling + NOISE)

    assert found is not None
    assert float(np.abs(found - filling).max()) < 40 * KIB


@pytest.mark.parametrize(
    "row",
    [KIB * STEPS, NOISE, 0 * STEPS, 5 * MIB * np.exp(-AT / 20), MIB * (AT > 100)],
    ids=["line", "noise", "level", "what empties", "jump"],
)
def test_nothing_else_is_taken_for_one(row: np.ndarray) -> None:
    assert filling_of(STEPS, 900 * MIB + row) is None
