"""A row less all that comes to rest or comes again, where a line with noise is left: small growth shows there."""

from __future__ import annotations

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.filling import POINTS, filling_of
from tenure.analysis.watching.periods import risen_at_once, sawtooth_course, without_single
from tenure.analysis.watching.robust import slope_with_error

WHITE = 1.5
"""Von Neumann's ratio of medians around their line: 2 for noise without memory, less where neighbours are alike, with a
standard deviation of 0.2. A random walk has next to nothing."""


def explained(steps: Numbers, values: Numbers) -> Numbers | None:
    """The row less a filling, a sawtooth and a few jumps; None where what is left is no line with noise around it.

    Jumps are looked for only where it is not without. So no course is taken off that merely resembles what is there:
    what fills in another way, wanders, or grows in jumps leaves more than noise. Some milliseconds.
    """
    found, filling = _without_courses(steps, values)
    if is_noise(steps, found):
        return found
    for risen in (risen_at_once(values, alone=True), risen_at_once(values - filling)):
        calm = None if risen is None else _without_jumps(steps, values, risen)
        if calm is not None:
            return calm
    return None


def _without_jumps(steps: Numbers, values: Numbers, risen: Numbers) -> Numbers | None:
    for _ in range(2):
        found, _ = _without_courses(steps, values - risen)
        if is_noise(steps, found):
            return found
        risen = _with_heights(steps, found + risen, risen)
    return None


def _without_courses(steps: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """The row less its filling and its sawtooth, and that filling."""
    filling = _filling(steps, values)
    if is_noise(steps, values - filling):
        return values - filling, filling
    course = sawtooth_course(steps, values - filling)
    if course is None:
        return values - filling, filling
    filling = _filling(steps, values - course)
    return values - course - filling, filling


def _filling(steps: Numbers, values: Numbers) -> Numbers:
    found = filling_of(steps, values)
    return np.zeros(len(values)) if found is None else found


def _with_heights(steps: Numbers, values: Numbers, risen: Numbers) -> Numbers:
    """The same jumps with their heights by least squares, beside a line: a change from one step to the next has the
    noise of both."""
    jumps = np.flatnonzero(np.diff(risen, prepend=risen[0]))
    after = np.arange(len(steps))[:, None] >= jumps[None, :]
    parts = np.column_stack([np.ones(len(steps)), steps - steps[0], after])
    heights = np.linalg.lstsq(parts, without_single(values), rcond=None)[0][2:]
    return np.asarray(after @ heights)


def is_noise(steps: Numbers, values: Numbers) -> bool:
    """Whether the row is a line with noise around it that has no memory.

    J. von Neumann, "Distribution of the ratio of the mean square successive difference to the variance", Annals of
    Mathematical Statistics 12 (1941).
    """
    at, seen = thinned(steps, values, most=POINTS, together=3)
    off = seen - slope_with_error(at, seen)[0] * at
    off = off - off.mean()
    squares = float(off @ off)
    return squares == 0 or float(np.sum(np.diff(off) ** 2)) / squares >= WHITE
