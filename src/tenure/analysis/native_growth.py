"""Resident memory that grows though nothing that a census shows does: native growth, said in words."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tenure.model.recording import Step
from tenure.model.units import format_bytes

RSS = "rss_bytes"
LEAST_STEPS = 40
"""Shorter runs are mostly warm-up: libraries, thread pools and workspaces come into being."""
LEAST_PER_100_STEPS = 4 << 20
LEAST_SHARE = 0.05
EXPLAINED_SHARE = 0.5
_WARM_UP = 0.25
"""Share of the run that does not count."""


def describe_native_growth(steps: Sequence[Step], explained_bytes_per_step: float) -> tuple[str, ...]:
    """One sentence where resident memory rises in both halves of the run and findings explain less than half of it.

    `explained_bytes_per_step` is what findings say grows on the host. Empty where it was not measured or is little.
    """
    measured = [(step.step, step.counters[RSS]) for step in steps if RSS in step.counters]
    late = measured[int(len(measured) * _WARM_UP) :]
    if len(late) < 8 or late[-1][0] - late[0][0] < LEAST_STEPS:
        return ()
    middle = len(late) // 2
    rate = min(_rate(late[: middle + 1]), _rate(late[middle:]))
    rise = rate * (late[-1][0] - late[0][0])
    unexplained = rate - explained_bytes_per_step
    if 100 * rate < LEAST_PER_100_STEPS or rise < LEAST_SHARE * late[0][1] or unexplained < EXPLAINED_SHARE * rate:
        return ()
    return (
        f"resident memory grows by {format_bytes(int(100 * unexplained))} per 100 steps, from step {late[0][0]} to "
        f"{late[-1][0]}, and nothing that a census shows accounts for it: native memory (caches of libraries by "
        "shape, extension modules), or many small objects",
    )


def _rate(points: Sequence[tuple[int, int]]) -> float:
    """Bytes per step between the medians of the first and the last third: a single jump in between counts little."""
    third = max(1, len(points) // 3)
    (first, low), (last, high) = (
        (median(step for step, _ in part), median(size for _, size in part))
        for part in (points[:third], points[-third:])
    )
    return (high - low) / (last - first) if last > first else 0.0
