"""Runs whose truth is known: rows of a counter as programs make them, healthy and growing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tenure.model.growth_rule import LEAST_RISE

KIB, MIB = 1024.0, 1024.0**2
Row = Callable[[np.random.Generator, int], np.ndarray]


def allocator(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Bytes allocated at steps' ends: a batch of varying length is still alive, an evaluation leaves something for a
    step, optimizer state comes in the first steps; all in blocks of 512 bytes."""
    held = 900 * MIB - 600 * MIB * np.exp(-np.arange(steps) / rng.uniform(0.3, 3))
    batch = rng.uniform(16, 128) * KIB * rng.uniform(0.2, 1.0, steps)
    every = rng.integers(50, 200)
    evaluation = np.where(np.arange(steps) % every == every - 1, rng.uniform(1, 64) * MIB, 0)
    return np.round((held + batch + evaluation) / 512) * 512


def resident(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Resident memory: pages come and go, libraries load at first, the C library's arenas grow in a few jumps, ever
    more rarely."""
    arenas = np.zeros(steps)
    for _ in range(rng.integers(0, 5)):
        arenas[int(steps ** rng.uniform(0, 1)) :] += rng.uniform(1, 48) * MIB
    start = 2000 * MIB + 300 * MIB * (1 - np.exp(-np.arange(steps) / rng.uniform(1, 15)))
    return np.round((start + rng.normal(0, rng.uniform(0.1, 1.5) * MIB, steps) + arenas) / 4096) * 4096


def jumps(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Up to three jumps upwards that stay."""
    row = np.zeros(steps)
    for _ in range(rng.integers(0, 4)):
        row[rng.integers(0, steps) :] += rng.uniform(1, 48) * MIB
    return row


def filling(rng: np.random.Generator, steps: int) -> np.ndarray:
    """A cache that fills, ever more slowly, within the first 20 to 250 steps."""
    return rng.uniform(1, 200) * MIB * (1 - np.exp(-np.arange(steps) / rng.uniform(5, 60)))


def sawing(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Rises and falls with a period of 5 to 120 steps: a log interval, the collector."""
    period = rng.integers(5, 121)
    return rng.uniform(0.1, 20) * MIB / period * ((np.arange(steps) + rng.integers(0, period)) % period)


def walking(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Wanders: what comes and goes has no memory of where it was."""
    return np.cumsum(rng.normal(0, rng.uniform(10, 200) * KIB, steps))


def adding(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Keeps something of random size in some of the steps."""
    kept = rng.random(steps) < rng.uniform(0.05, 1.0)
    return np.cumsum(kept * rng.gamma(rng.uniform(0.5, 4), rng.uniform(16, 256) * KIB, steps))


def dripping(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Keeps the same at each step, or at every few."""
    return rng.uniform(4, 400) * KIB * (np.arange(steps) // rng.integers(1, 20) * 10.0)


HEALTHY: dict[str, tuple[Row, ...]] = {
    "allocator": (allocator,),
    "allocator with jumps": (allocator, jumps),
    "allocator and a cache": (allocator, filling),
    "allocator and a sawtooth": (allocator, sawing),
    "resident": (resident,),
    "resident with jumps": (resident, jumps),
    "resident and a cache": (resident, filling),
    "resident and a sawtooth": (resident, sawing),
    "resident that wanders": (resident, walking),
}
GROWING: dict[str, tuple[Row, ...]] = {
    "the same each time": (allocator, dripping),
    "random sizes": (allocator, adding),
    "a sawtooth and the same": (allocator, sawing, dripping),
    "a sawtooth and random sizes": (allocator, sawing, adding),
    "resident, the same": (resident, dripping),
    "resident, random sizes": (resident, adding),
    "resident that wanders": (resident, walking, dripping),
}


def draw(rows: Sequence[Row], seed: int, steps: int) -> np.ndarray:
    """One run: these rows added up."""
    rng = np.random.default_rng(seed)
    return np.sum([row(rng, steps) for row in rows], axis=0)


def small_leak_of(rows: Sequence[Row]) -> float:
    """Bytes per step that have to be found: more where resident memory alone tells."""
    return 64 * KIB if resident in rows else KIB


def least_rise_of(rows: Sequence[Row]) -> int:
    """What a counter of this kind must rise by to be told."""
    return LEAST_RISE["rss_bytes" if resident in rows else "allocated_bytes"]


def draw_with_limit(rows: Sequence[Row], seed: int) -> tuple[np.ndarray, float, int]:
    """What was seen of a run, a limit half to four times as far, and after how many steps more the run meets it. One
    that never does, for it wanders, is drawn again."""
    rng = np.random.default_rng(seed)
    while True:
        seen, ahead = int(rng.choice([200, 500, 1000])), rng.uniform(0.5, 4)
        count = 8 * seen
        values = np.sum([row(rng, count) for row in rows], axis=0)
        early, late = values[seen // 2 : seen], values[-count // 8 :]
        rate = (np.median(late) - np.median(early)) / (count - count // 16 - 0.75 * seen)
        limit = float(values[:seen].max() + rate * seen * ahead)
        met = np.flatnonzero(values[seen:] >= limit)
        if len(met):
            return values[:seen], limit, int(met[0]) + 1
