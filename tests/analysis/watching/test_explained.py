from __future__ import annotations

import numpy as np
import pytest

from analysis.watching.simulated import KIB, MIB
from tenure.analysis.watching.explained import explained, is_noise
from tenure.analysis.watching.robust import slope_with_error

STEPS = np.arange(31.0, 501.0)
AT = STEPS - 1
NOISE = np.random.default_rng(1).normal(0, 0.5 * MIB, len(STEPS))
FILLING = 100 * MIB * (1 - np.exp(-AT / 15))
SAWTOOTH = 6 * MIB / 100 * (AT % 100)
JUMPS = 20 * MIB * (AT >= 67) + 12 * MIB * (AT >= 301)
LEAK = 64 * KIB * STEPS


@pytest.mark.parametrize(
    "healthy",
    [FILLING, SAWTOOTH, JUMPS, FILLING + SAWTOOTH],
    ids=["filling", "sawtooth", "jumps", "filling and sawtooth"],
)
@pytest.mark.parametrize("leak", [0 * LEAK, LEAK], ids=["healthy", "leak"])
def test_what_is_left_of_a_row_is_its_line_and_noise(healthy: np.ndarray, leak: np.ndarray) -> None:
    found = explained(STEPS, 2000 * MIB + NOISE + healthy + leak)

    assert found is not None
    slope, error = slope_with_error(STEPS, found)
    assert abs(slope - (leak[1] - leak[0])) < 6 * KIB > 2 * error


@pytest.mark.parametrize(
    "row",
    [
        np.cumsum(np.random.default_rng(2).normal(0, MIB, len(STEPS))),
        200 * MIB * (1 - 1 / (1 + AT / 20)),
        np.cumsum(np.random.default_rng(3).gamma(1.0, MIB, len(STEPS))),
    ],
    ids=["walk", "fills without end", "random sizes"],
)
def test_what_is_more_than_that_is_not_explained(row: np.ndarray) -> None:
    assert explained(STEPS, row + NOISE) is None


def test_noise_has_no_memory_and_a_level_is_noise() -> None:
    assert is_noise(STEPS, NOISE + LEAK)
    assert is_noise(STEPS, 0 * STEPS)
    assert not is_noise(STEPS, np.cumsum(NOISE))
