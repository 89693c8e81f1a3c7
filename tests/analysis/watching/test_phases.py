from __future__ import annotations

import numpy as np
import pytest

from analysis.watching.simulated import KIB, MIB, allocator, resident
from tenure.analysis.watching.phases import CounterPhase, find_phases
from tenure.analysis.watching.warm_up import warm_up_end

STEPS = np.arange(1.0, 401)
NOISE = np.random.default_rng(7).normal(0, 20 * KIB, 400)


def test_a_jump_parts_two_phases_with_their_own_baselines() -> None:
    before, after = find_phases(STEPS, 100 * MIB + np.where(STEPS > 250, 40 * MIB, 0.0) + NOISE)

    assert (before.first_step, before.last_step, after.first_step, after.last_step) == (4, 250, 251, 400)
    assert before.baseline_bytes == pytest.approx(100 * MIB, abs=60 * KIB)
    assert after.baseline_bytes == pytest.approx(140 * MIB, abs=60 * KIB)


def test_three_levels_are_three_phases() -> None:
    levels = np.select([STEPS <= 150, STEPS <= 300], [50 * MIB, 90 * MIB], 20 * MIB)

    assert [phase.last_step for phase in find_phases(STEPS, levels + NOISE)] == [150, 300, 400]


def test_growth_is_one_phase_with_its_slope() -> None:
    (phase,) = find_phases(STEPS, 100 * MIB + 50 * KIB * STEPS + NOISE)

    assert (phase.first_step, phase.last_step) == (4, 400)
    assert phase.per_step == pytest.approx(50 * KIB, rel=0.01)


def test_a_jump_while_memory_grows_is_a_change_too() -> None:
    phases = find_phases(STEPS, 50 * KIB * STEPS + np.where(STEPS > 200, 64 * MIB, 0.0) + NOISE)

    assert [phase.last_step for phase in phases] == [200, 400]
    assert [phase.per_step for phase in phases] == pytest.approx([50 * KIB, 50 * KIB], rel=0.02)


def test_noise_and_evaluations_change_no_level() -> None:
    num_phases = [len(find_phases(STEPS, allocator(np.random.default_rng(seed), 400))) for seed in range(30)]

    assert sum(number > 1 for number in num_phases) <= 1


def test_rows_too_short_for_a_change_are_one_phase() -> None:
    assert find_phases(STEPS[:0], NOISE[:0]) == ()
    assert find_phases(STEPS[:3], np.array([5.0, 5.0, 5.0])) == (CounterPhase(1, 3, 5, 0.0),)


@pytest.mark.parametrize("length", [5, 20, 60])
def test_warm_up_ends_where_the_row_comes_to_its_later_line(length: int) -> None:
    warm = 300 * MIB * np.minimum(1.0, STEPS / length)

    assert warm_up_end(STEPS, warm + 10 * KIB * STEPS + NOISE) == pytest.approx(length, abs=3)


def test_growth_from_the_first_step_on_is_no_warm_up() -> None:
    assert warm_up_end(STEPS, 500 * KIB * STEPS + NOISE) == 3


def test_warm_up_is_never_more_than_a_third() -> None:
    rows = [resident(np.random.default_rng(seed), 400) for seed in range(30)]

    assert max(warm_up_end(STEPS, row) for row in rows) <= 400 // 3
