"""Found within 500 steps: 1 KiB per step in the allocator's bytes, 64 KiB in resident memory; silent on healthy rows.

Rows are drawn anew from fixed seeds, so every run of this test draws the same.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.watching.simulated import HEALTHY, KIB, MIB, draw, least_rise_of, small_leak_of
from tenure.analysis.watching.slow_growth import SlowGrowth, find_slow_growth

NUM_RUNS = 100
LOOKS = (500, 1000, 1500, 2000)
STEPS = np.arange(1.0, LOOKS[-1] + 1)


def grows(name: str, values: np.ndarray, until: int, *, every: int = 1) -> bool:
    """Of the first `until` steps, where counters were read after each so many."""
    read = slice(every - 1, until, every)
    return find_slow_growth(STEPS[read], values[read], least_rise=least_rise_of(HEALTHY[name])) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", HEALTHY)
def test_of_a_hundred_healthy_runs_one_at_most_is_told_whenever_one_looks(name: str) -> None:
    runs = (draw(HEALTHY[name], seed, len(STEPS)) for seed in range(NUM_RUNS))
    alarms = [seed for seed, values in enumerate(runs) if any(grows(name, values, look) for look in LOOKS)]

    assert len(alarms) <= 1, alarms


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("allocator", 99),
        ("allocator with jumps", 95),
        ("allocator and a cache", 95),
        ("resident", 95),
        ("resident and a sawtooth", 85),
    ],
)
def test_a_small_leak_is_found_within_five_hundred_steps(name: str, least: int) -> None:
    rows = HEALTHY[name]
    found = [grows(name, draw(rows, seed, len(STEPS)) + small_leak_of(rows) * STEPS, 500) for seed in range(NUM_RUNS)]

    assert sum(found) >= least


@pytest.mark.slow
@pytest.mark.parametrize("name", ["allocator", "allocator and a cache", "allocator and a sawtooth", "resident"])
def test_a_small_leak_that_begins_late_is_found_five_hundred_steps_later(name: str) -> None:
    rows = HEALTHY[name]
    late = small_leak_of(rows) * np.maximum(0.0, STEPS - (LOOKS[-1] - 500))

    assert sum(grows(name, draw(rows, seed, len(STEPS)) + late, LOOKS[-1]) for seed in range(NUM_RUNS)) >= 95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"), [("allocator and a sawtooth", 95), ("resident", 95), ("resident and a sawtooth", 85)]
)
def test_where_every_other_step_was_read_a_small_leak_is_found_as_soon_and_healthy_runs_are_silent(
    name: str, least: int
) -> None:
    rows = HEALTHY[name]
    runs = [draw(rows, seed, len(STEPS)) for seed in range(NUM_RUNS)]

    assert sum(grows(name, values + small_leak_of(rows) * STEPS, 500, every=2) for values in runs) >= least
    assert sum(any(grows(name, values, look, every=2) for look in LOOKS) for values in runs) <= 1


def test_growth_is_told_with_its_rate_and_where_it_was_seen() -> None:
    rng = np.random.default_rng(0)
    found = find_slow_growth(STEPS[:600], 5 * MIB + 10 * KIB * STEPS[:600] + rng.normal(0, 10 * KIB, 600))

    assert found is not None
    assert abs(found.per_step - 10 * KIB) < 4 * found.error < KIB
    assert (found.first_step, found.last_step) == (4, 600)


def test_bytes_that_grow_without_any_noise_are_growth() -> None:
    assert find_slow_growth(STEPS[:200], 100 * STEPS[:200]) == SlowGrowth(100.0, 0.0, 4, 200)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(300),
        np.full(300, 7 * MIB),
        np.where(np.arange(300) < 150, 0.0, 50 * MIB),
        -100.0 * np.arange(300),
        100.0 * np.minimum(np.arange(300), 140),
        np.array([]),
        100.0 * np.arange(50),
    ],
    ids=["nothing", "constant", "one jump", "falling", "filled", "no row", "too short"],
)
def test_rows_without_growth_are_silent(values: np.ndarray) -> None:
    assert find_slow_growth(np.arange(1.0, len(values) + 1), values) is None
