"""Growth noticed in the program's process: soon where it is there, seldom where it is not, and at a bounded cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from analysis.watching.simulated import KIB, adding, allocator, dripping, filling, jumps, resident, sawing
from tenure.capture.sampling.trend import MOST_WAITING, POINTS, Trend, TrendWatch

STEPS, RUNS = 2000, 20
Row = Callable[[np.random.Generator, int], np.ndarray]


def begins_late(per_step: float) -> Row:
    return lambda rng, steps: per_step * np.maximum(0, np.arange(steps) - 200)


def none(rng: np.random.Generator, steps: int) -> np.ndarray:
    return np.zeros(steps)


def first_trend(values: np.ndarray, name: str) -> Trend | None:
    """Looked at as the recorder's thread does, here each ten steps."""
    watch = TrendWatch()
    for step, value in enumerate(values.tolist(), start=1):
        watch.add(step, {name: int(value)})
        if step % 10 == 0 and (trend := watch.look()) is not None:
            return trend
    return None


def trends(name: str, *parts: Row) -> list[Trend]:
    rngs = map(np.random.default_rng, range(RUNS))
    found = (first_trend(sum(part(rng, STEPS) for part in parts), name) for rng in rngs)  # type: ignore[arg-type]
    return [trend for trend in found if trend is not None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("allocated_bytes", (allocator, begins_late(1 * KIB))),
        ("rss_bytes", (resident, begins_late(64 * KIB))),
        ("allocated_bytes", (allocator, adding)),
        ("allocated_bytes", (allocator, dripping)),
    ],
)
def test_growth_is_noticed_within_500_steps(name: str, parts: tuple[Row, ...]) -> None:
    found = trends(name, *parts)

    assert len(found) == RUNS
    assert sum(trend.last_step <= 700 for trend in found) == RUNS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parts"),
    [("allocated_bytes", (allocator, part)) for part in (none, filling, jumps, sawing)]
    + [("rss_bytes", (resident, part)) for part in (none, jumps, sawing)],
)
def test_healthy_runs_seldom_seem_to_grow(name: str, parts: tuple[Row, ...]) -> None:
    """A closer look for nothing costs two censuses: one in twenty runs may have it."""
    assert len(trends(name, *parts)) <= 1


def test_the_rate_and_the_steps_are_told() -> None:
    values = np.full(1000, 10.0**9)
    values[300:] += 4096 * np.arange(700)

    trend = first_trend(values, "allocated_bytes")

    assert trend is not None
    assert (trend.name, trend.per_step) == ("allocated_bytes", pytest.approx(4096, rel=0.1))
    assert 500 <= trend.last_step <= 800


def test_a_counter_that_is_not_measured_in_each_step_is_watched_too() -> None:
    watch = TrendWatch()
    for step in range(1, 6001):
        watch.add(step, {"rss_bytes": 10**9 + 100_000 * step} if step % 10 == 0 else {})
    trend = watch.look()

    assert trend is not None
    assert trend.per_step == pytest.approx(100_000, rel=0.01)


def test_what_is_kept_is_bounded_however_long_the_run_and_however_late_the_thread() -> None:
    watch = TrendWatch()
    for step in range(3 * MOST_WAITING):
        watch.add(step, {"allocated_bytes": step})
    assert len(watch._new) == MOST_WAITING
    watch.look()
    for step in range(100_000):
        watch.add(step, {"allocated_bytes": 1})
        if step % 1000 == 0:
            watch.look()

    assert max(len(row._points) for rows in watch._rows.values() for row in rows) <= POINTS
