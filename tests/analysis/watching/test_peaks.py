"""Peaks of single steps, and why they differ: told from what an allocator would have counted in simulated runs."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.watching.simulated import KIB, MIB
from tenure.analysis.watching.composition import bytes_by_role, carried_into_forward, where_memory_ran_out
from tenure.analysis.watching.peaks import find_peak_shares, find_peaks
from tenure.model.outlook import CarriedIntoForward, StepPeak
from tenure.model.recording import CensusEntry, Step

BASE = 900 * MIB


def simulated_run(
    rng: np.random.Generator, *, per_element: float, kept: float, noise: float = 0.0, steps: int = 400
) -> tuple[list[Step], list[tuple[int, float, float, float]]]:
    """Steps as recorded, and of each one that set a new highest peak: step, its batch's, carried and peak bytes.

    Batches get longer now and then; each step leaves a random part of what it made, up to `kept`, for the next one.
    """
    sizes = rng.integers(100, 1000 + 5 * np.arange(steps))
    carried = np.concatenate([[0.0], kept * rng.random(steps) * np.linspace(0.2, 1.0, steps)])
    highest, recorded, records = 0.0, [], []
    for step in range(1, steps + 1):
        of_batch, before = per_element * sizes[step - 1], carried[step - 1]
        peak = BASE + of_batch + before + rng.normal(0, noise)
        if peak > highest and step > 3:
            records.append((step, of_batch, before, peak))
        highest = max(highest, peak)
        counters = {
            "allocated_bytes": BASE + carried[step],
            "allocated_peak_bytes": highest,
            "input_elements": sizes[step - 1],
        }
        counters = {name: round(float(value)) for name, value in counters.items()}
        recorded.append(Step(step, step / 2, 0.5, counters))
    return recorded, records


def true_shares(records: list[tuple[int, float, float, float]]) -> tuple[float, float]:
    _, batch, carried, peak = np.array(records).T
    return tuple(float(np.cov(part, peak)[0, 1] / np.var(peak, ddof=1)) for part in (batch, carried))


@pytest.mark.parametrize(
    ("per_element", "kept"), [(200 * KIB, 0.0), (1 * KIB, 500 * MIB), (80 * KIB, 300 * MIB), (200 * KIB, 50 * MIB)]
)
@pytest.mark.parametrize("noise", [0.0, 2 * MIB])
def test_shares_of_batch_and_carried_memory_are_those_that_made_the_peaks(
    per_element: float, kept: float, noise: float
) -> None:
    for seed in range(10):
        steps, records = simulated_run(np.random.default_rng(seed), per_element=per_element, kept=kept, noise=noise)
        found = find_peak_shares(steps)

        assert found is not None
        assert found.num_peaks == len(records)
        assert (found.batch, found.carried) == pytest.approx(true_shares(records), abs=0.02 if noise == 0 else 0.1)
        assert found.batch + found.carried + found.rest == pytest.approx(1.0)
        if kept == 0:
            assert found.bytes_per_element == pytest.approx(per_element, rel=0.05)


def test_a_leak_is_carried_and_not_the_batch() -> None:
    counters = [
        {"allocated_bytes": BASE + 2 * MIB * step, "allocated_peak_bytes": 2 * BASE + 2 * MIB * (step - 1)}
        for step in range(1, 200)
    ]
    steps = [
        Step(step, step / 2, 0.5, {name: int(value) for name, value in row.items()} | {"input_elements": 64})
        for step, row in enumerate(counters, start=1)
    ]

    found = find_peak_shares(steps)

    assert found is not None
    assert (found.batch, found.carried, found.rest) == pytest.approx((0.0, 1.0, 0.0))


def test_peaks_that_hardly_differ_or_are_few_have_no_shares() -> None:
    def steps(*peaks: int) -> list[Step]:
        return [
            Step(at, at / 2, 0.5, {"allocated_bytes": 5, "allocated_peak_bytes": peak, "input_elements": at})
            for at, peak in enumerate(peaks, start=1)
        ]

    assert find_peak_shares(steps(*(10_000 + at for at in range(50)))) is None
    assert find_peak_shares(steps(1, 1, 1, 10, 20, 30, 40)) is None
    assert find_peak_shares(steps(1, 1, 1, 10, 20, 30, 40, 50)) is not None
    assert find_peak_shares([]) is None


def test_a_steps_peak_is_told_where_it_is_a_new_highest_or_a_census_saw_it() -> None:
    peaks = {1: 10, 2: 10, 3: 30, 4: 30, 6: 40, 7: 50}  # the fifth was not counted, so the sixth may not have set it
    steps = [Step(step, step / 2, 0.5, {"allocated_peak_bytes": peak}) for step, peak in peaks.items()]
    censuses = [
        CensusEntry(3, "peak", "a.npz", 0.1, 5, {"activation": 20}),
        CensusEntry(6, "peak", "b.npz", 0.1, 5, {"activation": 25}),
        CensusEntry(6, "step-end", "c.npz", 0.1, 5, {"parameter": 25}),
    ]

    assert find_peaks(steps, censuses) == (
        StepPeak(3, 30, {"activation": 20}),
        StepPeak(6, None, {"activation": 25}),
        StepPeak(7, 50, None),
    )


def test_what_is_carried_into_the_forward_is_all_that_a_forward_does_not_begin_with() -> None:
    def entry(step: int, moment: str, **roles: int) -> CensusEntry:
        return CensusEntry(step, moment, f"{step}.npz", 0.1, 5, roles)

    begins = {"parameter": 40, "buffer": 5, "gradient": 10, "optimizer_state": 15, "input": 5}
    entries = [entry(2, "forward-entry", other=9), entry(3, "forward-entry", activation=20, other=5, **begins)]

    assert carried_into_forward([*entries, entry(4, "step-end", other=50)]) == CarriedIntoForward(3, 25, 0.25)
    assert carried_into_forward([entry(4, "step-end", other=50), entry(5, "forward-entry")]) is None


def test_what_tensors_were_where_memory_ran_out_is_told_of_the_first_time_and_is_no_level_between_steps() -> None:
    entries = [
        CensusEntry(3, "step-end", "a.npz", 0.1, 5, {"parameter": 4}),
        CensusEntry(7, "out-of-memory", "b.npz", 0.1, 5, {"activation": 9}),
        CensusEntry(8, "out-of-memory", "c.npz", 0.1, 5, {"activation": 8}),
    ]

    assert where_memory_ran_out(entries) == StepPeak(7, None, {"activation": 9})
    assert where_memory_ran_out(entries[:1]) is None
    assert bytes_by_role(entries) == ((3, {"parameter": 4}),)
