"""Fragmentation, inputs, composition by role: read from the steps and censuses of a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenure.analysis.watching.composition import at_the_peak, bytes_by_role
from tenure.analysis.watching.counter_series import counter_series, thinned
from tenure.analysis.watching.fragmentation import find_fragmentation
from tenure.analysis.watching.inputs import InputEffect, find_input_effect
from tenure.model.recording import CensusEntry, Step
from tenure.store.row_log import RowLog
from tenure.store.row_reading import read_rows

MIB = 1 << 20


def steps_of(**counters: list[int | None]) -> list[Step]:
    rows = zip(*counters.values(), strict=True)
    return [
        Step(number, number / 10, 0.1, {n: v for n, v in zip(counters, row, strict=True) if v is not None})
        for number, row in enumerate(rows, start=1)
    ]


def test_a_counter_is_the_same_row_however_steps_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.store.row_log.BLOCK_ROWS", 4)
    steps = steps_of(rss_bytes=[5, None, 7, 8, None, 11])
    log = RowLog(tmp_path, "steps")
    for step in steps:
        log.add(json.dumps({"step": step.step, "time": step.time, "seconds": 0.1, "counters": step.counters}))
    log.flush()

    stored = read_rows(tmp_path, "steps", Step).rows
    for rows in (steps, stored):
        assert [column.tolist() for column in counter_series(rows, "rss_bytes")] == [[1, 3, 4, 6], [5, 7, 8, 11]]
        assert [column.tolist() for column in counter_series(rows, "nowhere")] == [[], []]


def test_a_long_row_is_thinned_to_medians() -> None:
    at, values = counter_series(steps_of(rss_bytes=[90, 1, 50, 2, 3, 4, 900]), "rss_bytes")

    assert [column.tolist() for column in thinned(at, values, most=3)] == [[3.0, 6.0], [2.0, 4.0]]
    assert thinned(at, values, most=7)[1] is values


def test_what_is_reserved_and_not_in_use_is_told_in_shares() -> None:
    found = find_fragmentation(
        steps_of(reserved_bytes=[100, 200], active_bytes=[90, 150], inactive_split_bytes=[5, 40])
    )

    assert found is not None
    assert (found.split_share, found.idle_share, found.drift) == (0.2, 0.25, None)


def test_a_reserve_that_grows_away_from_what_is_in_use_is_a_drift() -> None:
    count = 300
    found = find_fragmentation(
        steps_of(
            reserved_bytes=[100 * MIB + 4096 * step for step in range(count)],
            active_bytes=[80 * MIB] * count,
        )
    )

    assert found is not None
    assert found.split_share is None
    assert found.drift is not None
    assert found.drift.per_step == pytest.approx(4096)


def test_without_a_device_there_is_no_fragmentation() -> None:
    assert find_fragmentation(steps_of(rss_bytes=[1, 2, 3])) is None
    assert find_fragmentation([]) is None


def test_the_peak_follows_the_inputs_elements() -> None:
    sizes = [900, 100, 100, 200, 150, 300, 400, 350, 500, 600, 550]
    peak, peaks = 0, []
    for size in sizes[3:]:
        peak = max(peak, 10 * MIB + 2048 * size)
        peaks.append(peak)
    found = find_input_effect(
        steps_of(
            input_elements=sizes,
            input_longest=[size // 10 for size in sizes],
            allocated_peak_bytes=[MIB, MIB, MIB, *peaks],
        )
    )

    assert found is not None
    assert (found.worst_step, found.worst_elements, found.longest) == (1, 900, 90)
    assert found.peak_bytes == peaks[-1]
    assert found.bytes_per_element == pytest.approx(2048)
    assert found.explained_share == pytest.approx(1.0)


def test_few_rises_of_the_peak_tell_of_no_rate() -> None:
    steps = steps_of(input_elements=[4, 4, 4, 8, 9], allocated_peak_bytes=[1, 1, 1, 2, 3])

    assert find_input_effect(steps) == InputEffect(5, 9, None, 3, None, None)
    assert find_input_effect(steps_of(input_elements=[4, 9])) == InputEffect(2, 9, None, None, None, None)
    assert find_input_effect(steps_of(rss_bytes=[4, 9])) is None


def test_composition_is_told_between_steps_and_at_the_heaviest_peak() -> None:
    def entry(step: int, moment: str, **roles: int) -> CensusEntry:
        return CensusEntry(step, moment, f"{step}.npz", 0.1, 5, roles)

    entries = [
        entry(1, "step-end", parameter=5, other=1),
        entry(6, "peak", parameter=5, activation=9),
        entry(8, "peak", parameter=5, activation=7),
        entry(9, "step-end"),
    ]

    assert bytes_by_role(entries) == ((1, {"parameter": 5, "other": 1}),)
    assert at_the_peak(entries) == (6, {"parameter": 5, "activation": 9})
    assert at_the_peak(entries[:1]) is None
