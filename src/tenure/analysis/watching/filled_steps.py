"""Rows of counters that were not read after each step, with a value for each."""

from __future__ import annotations

import numpy as np

from tenure.analysis.watching.counter_series import Numbers

MOST_LONGER = 16
"""So many steps to a value at most: the recorder leaves out nine of ten, and lost rows are few."""


def may_be_filled(steps: Numbers) -> bool:
    """Whether enough of the steps from the first to the last were read."""
    return len(steps) > 1 and float(steps[-1] - steps[0]) < MOST_LONGER * len(steps)


def filled(steps: Numbers, values: Numbers) -> Numbers:
    """A value for each step from the first to the last, on a line between those that were read."""
    count = int(steps[-1] - steps[0]) + 1
    if count == len(steps):
        return values
    return np.interp(np.arange(count), steps - steps[0], values)
