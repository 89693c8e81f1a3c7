from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from profiles import profile
from tenure.analysis.host.native_growth import (
    describe_native_growth,
    describe_unseen_growth,
    find_native_growth,
    find_rise,
)
from tenure.model.profile import StepProfile
from tenure.model.recording import Step
from tenure.model.suspect import Suspect

MIB = 1 << 20
PROCESS = {"torch": "2.13.0", "environment": {"OMP_NUM_THREADS": "1"}}


def steps(rss: Callable[[int], int], count: int = 101) -> list[Step]:
    return [Step(step, float(step), 1.0, {"rss_bytes": rss(step)}) for step in range(1, count)]


def found_in(rss: Callable[[int], int], *, explained: float = 0.0, seen: StepProfile | None = None) -> list[Suspect]:
    return list(find_native_growth(steps(rss), explained, process=PROCESS, profile=seen))


def steady(step: int) -> int:
    return 100 * MIB + step * MIB


def facts(found: Suspect) -> Any:
    return found.facts["native_growth"]


def test_resident_memory_that_rises_in_both_halves_is_a_suspect_without_a_holder() -> None:
    (found,) = found_in(steady)

    assert (found.symptom, found.device, found.path, found.holder.kind, found.cut) == (
        "host",
        "host",
        (),
        "unknown",
        (),
    )
    assert (found.first_step, found.last_step, found.growth_bytes_per_step) == (26, 100, MIB)
    assert (found.retained_bytes, found.series.steps[-1], len(found.series.steps)) == (74 * MIB, 100, 25)
    assert facts(found) == {
        "torch": "2.13.0",
        "environment": {"OMP_NUM_THREADS": "1"},
        "devices": [],
        "operators": [],
        "shapes_vary": False,
        "keeps_pace": True,
        "is_short": False,
        "beside_growth": False,
    }


def test_other_growth_that_is_told_is_known_to_be_beside_it() -> None:
    (found,) = found_in(steady, explained=4096.0)

    assert facts(found)["beside_growth"] is True


def test_the_operators_of_the_profiled_step_are_told_with_phases_and_a_place() -> None:
    seen = profile((1, 2, 1, 2, 3), (2, 2, 6, 7, 8), phases=[1, 1, 1, 2, 0] * 2)

    (found,) = found_in(steady, seen=seen)

    place = {"file": "/p/train.py", "line": 10, "function": "step"}
    assert facts(found)["operators"] == [{"name": "aten.mm", "calls": 10, "phases": ["forward", "backward"], **place}]
    assert (facts(found)["devices"], facts(found)["shapes_vary"]) == (["cpu"], False)


def test_shapes_vary_where_the_two_profiled_steps_make_different_ones() -> None:
    seen = profile((1, 2, 1, 2, 3), (2, 2, 6, 7, 8), (3, 2, -1, 7, 8))
    shapes = dataclasses.replace(seen.storages, shape=np.array([5, 4, 3]))

    (found,) = found_in(steady, seen=dataclasses.replace(seen, storages=shapes))

    assert facts(found)["shapes_vary"] is True


def test_growth_that_slows_down_says_so() -> None:
    (found,) = found_in(lambda step: 100 * MIB + int(90 * MIB * (1 - 0.96**step)))

    assert facts(found)["keeps_pace"] is False


def test_growth_that_slows_down_counts_from_both_halves_where_shapes_vary() -> None:
    seen = profile((1, 2, 1, 2, 3), (2, 2, 6, 7, 8), (3, 2, -1, 7, 8))
    varying = dataclasses.replace(seen, storages=dataclasses.replace(seen.storages, shape=np.array([5, 4, 3])))

    def slows(step: int) -> int:
        return 350 * MIB + int(60 * MIB * (1 - 0.97**step))

    assert [len(found_in(slows, seen=each)) for each in (varying, seen, None)] == [1, 0, 0]


def test_growth_that_findings_explain_is_none_and_the_rest_is_said_where_it_is_much() -> None:
    assert found_in(steady, explained=0.2 * MIB) == []
    assert describe_native_growth(steps(steady), 0.2 * MIB) == (
        "resident memory grows by 80.00 MiB per 100 steps beyond what findings explain, from step 26 to 100: native "
        "memory (caches of libraries by shape, extension modules), or many small objects",
    )
    assert describe_native_growth(steps(steady), 0.8 * MIB) == ()
    assert describe_native_growth(steps(steady), 0.0) == ()


def test_where_censuses_are_too_few_growth_is_told_without_a_cause() -> None:
    assert describe_unseen_growth(steps(steady), 0.0) == (
        "resident memory grows by 100.00 MiB per 100 steps, from step 26 to 100, and too few censuses were taken "
        "meanwhile to say what holds it",
    )
    assert describe_unseen_growth(steps(steady), 0.2 * MIB) == ()


def test_what_is_little_fills_or_jumps_once_is_not_told() -> None:
    assert found_in(lambda step: 100 * MIB + step * 1024) == []
    assert found_in(lambda step: 10_000 * MIB + step * MIB // 10) == []
    assert found_in(lambda step: 100 * MIB + min(step, 50) * MIB) == []
    assert found_in(lambda step: 100 * MIB + (step > 60) * 90 * MIB) == []


def test_short_runs_and_runs_without_the_counter_say_nothing() -> None:
    found = [find_rise(steps(lambda step: step * 9 * MIB, count=last + 1)) is not None for last in (30, 46, 47, 50)]

    assert found == [False, False, True, True]


def test_of_a_run_that_may_be_a_warm_up_it_is_said_that_it_is_short() -> None:
    rises = [find_rise(steps(lambda step: step * 9 * MIB, count=last + 1)) for last in (47, 53, 54)]

    assert [rise and rise.is_short for rise in rises] == [True, True, False]
    assert find_rise([Step(step, float(step), 1.0) for step in range(100)]) is None
