"""Where a run's beginning is over: state is made, caches and pools fill, kernels load; nothing of it goes on."""

from __future__ import annotations

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, thinned
from tenure.analysis.watching.robust import scatter_of, theil_sen

LONGEST_SHARE = 1 / 3
"""No more of a run counts as its beginning."""
FAR = 6.0
"""So many times the scatter around the later line a value of the beginning lies off it."""
AT_LEAST = 3
"""Steps that always belong to it."""
LEAST_STILL = 10
_LINE_POINTS = 120


def warm_up_end(steps: Numbers, values: Numbers) -> int:
    """The position of the first value after warm-up: from there on the row keeps to the line of its middle third.

    Single values may lie off as far as they like. A jump between two levels ends no warm-up: it lies within the first.
    """
    count = len(values)
    longest = int(count * LONGEST_SHARE)
    if longest <= AT_LEAST:
        return min(AT_LEAST, count)
    middle = slice(longest, 2 * longest)
    at, seen = thinned(steps[middle], values[middle], most=_LINE_POINTS)
    slope = theil_sen(at, seen)
    offset = float(np.median(seen - slope * at))
    early = values[:longest] - slope * steps[:longest] - offset
    scatter = scatter_of(values[middle] - slope * steps[middle])
    off = np.abs(early) > FAR * max(scatter, 1.0)
    # The last stretch of five of which most lie off ends the beginning.
    lately = np.convolve(off, np.ones(5), mode="same") >= 3
    end = max(AT_LEAST, int(np.flatnonzero(lately)[-1]) + 1 if lately.any() else 0)
    if _is_still(steps[end // 2 : end], early[end // 2 : end], FAR * max(scatter, 1.0)):
        return warm_up_end(steps[:end], values[:end])
    return end


def _is_still(steps: Numbers, values: Numbers, most: float) -> bool:
    """Whether a stretch that lies off the later line has a level of its own: a phase before another, no warm-up."""
    if len(values) < LEAST_STILL:
        return False
    at, seen = thinned(steps, values, most=_LINE_POINTS)
    return abs(theil_sen(at, seen)) * float(at[-1] - at[0]) <= most
