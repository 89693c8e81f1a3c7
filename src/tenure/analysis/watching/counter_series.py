"""One counter over the steps as two arrays, thinned where a run is long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenure.model.recording import Sample, Step
from tenure.model.row_columns import RowColumns

Numbers = np.ndarray[Any, np.dtype[np.float64]]

MOST_POINTS = 500
"""So many medians stand for a run of any length."""


def counter_series(rows: Sequence[Step] | Sequence[Sample], name: str) -> tuple[Numbers, Numbers]:
    """Step numbers and values of the rows that have this counter; both empty where none has."""
    if isinstance(rows, RowColumns):
        steps, values = rows.counter(name)
        return steps.astype(float), values.astype(float)
    there = [(row.step, row.counters[name]) for row in rows if name in row.counters]
    columns = np.array(there, dtype=float).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def thinned(steps: Numbers, values: Numbers, *, most: int = MOST_POINTS, together: int = 1) -> tuple[Numbers, Numbers]:
    """Medians of as many neighbours each as leave `most` points at most, and of so many `together` at least; what is
    left over at the start is dropped. From three on a single odd value does not count."""
    together = max(together, -(-len(values) // most))
    if together <= 1:
        return steps, values
    first = len(values) % together
    shape = (-1, together)
    return np.median(steps[first:].reshape(shape), axis=1), np.median(values[first:].reshape(shape), axis=1)
