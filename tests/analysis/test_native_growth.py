from __future__ import annotations

from collections.abc import Callable

from tenure.analysis.native_growth import describe_native_growth
from tenure.model.recording import Step

MIB = 1 << 20


def steps(rss: Callable[[int], int], count: int = 101) -> list[Step]:
    return [Step(step, float(step), 1.0, {"rss_bytes": rss(step)}) for step in range(1, count)]


def test_resident_memory_that_rises_in_both_halves_is_told() -> None:
    assert describe_native_growth(steps(lambda step: 100 * MIB + step * MIB), 0.0) == (
        "resident memory grows by 100.00 MiB per 100 steps, from step 26 to 100, and nothing that a census shows "
        "accounts for it: native memory (caches of libraries by shape, extension modules), or many small objects",
    )


def test_growth_that_findings_explain_is_not_told_again() -> None:
    assert describe_native_growth(steps(lambda step: 100 * MIB + step * MIB), 0.8 * MIB) == ()


def test_what_is_little_fills_or_jumps_once_is_not_told() -> None:
    assert describe_native_growth(steps(lambda step: 100 * MIB + step * 1024), 0.0) == ()
    assert describe_native_growth(steps(lambda step: 10_000 * MIB + step * MIB // 10), 0.0) == ()
    assert describe_native_growth(steps(lambda step: 100 * MIB + min(step, 50) * MIB), 0.0) == ()
    assert describe_native_growth(steps(lambda step: 100 * MIB + (step > 60) * 90 * MIB), 0.0) == ()


def test_short_runs_and_runs_without_the_counter_say_nothing() -> None:
    assert describe_native_growth(steps(lambda step: step * 9 * MIB, count=30), 0.0) == ()
    assert describe_native_growth([Step(step, float(step), 1.0) for step in range(100)], 0.0) == ()
