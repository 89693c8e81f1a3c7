"""A row less all that comes to rest or comes again, where what is left is a line and noise: small growth shows there."""

from __future__ import annotations

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.filling import POINTS, filling_of
from tenure.analysis.watching.periods import risen_at_once, sawtooth_course
from tenure.analysis.watching.robust import slope_with_error

WHITE = 1.5
"""Von Neumann's ratio of medians around their line: 2 for noise without memory, less where neighbours are alike, with a
standard deviation of 0.2. A random walk has next to nothing."""


def explained(steps: Numbers, values: Numbers) -> Numbers | None:
    """The row less a filling, a sawtooth and a few jumps; None where what is left is no line with noise around it.

    Jumps are looked for only where it is not without. So no course is taken off that merely resembles what is there:
    what fills in another way, wanders, or grows in jumps leaves more than noise. Some milliseconds.
    """
    rest = values
    for _ in range(2):
        filling = _or_nothing(filling_of(steps, rest), rest)
        if is_noise(steps, rest - filling):
            return np.asarray(rest - filling)
        course = sawtooth_course(steps, rest - filling)
        if course is not None:
            filling = _or_nothing(filling_of(steps, rest - course), rest)
            if is_noise(steps, rest - filling - course):
                return np.asarray(rest - filling - course)
        risen = risen_at_once(values - filling)
        if risen is None:
            return None
        rest = values - risen
    return None


def is_noise(steps: Numbers, values: Numbers) -> bool:
    """Whether the row is a line with noise around it that has no memory.

    J. von Neumann, "Distribution of the ratio of the mean square successive difference to the variance", Annals of
    Mathematical Statistics 12 (1941).
    """
    at, seen = thinned(steps, values, most=POINTS)
    off = seen - slope_with_error(at, seen)[0] * at
    off = off - off.mean()
    squares = float(off @ off)
    return squares == 0 or float(np.sum(np.diff(off) ** 2)) / squares >= WHITE


def _or_nothing(found: Numbers | None, row: Numbers) -> Numbers:
    return np.zeros(len(row)) if found is None else found
