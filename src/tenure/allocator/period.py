"""How often a trace repeats itself, where nothing else tells of steps: by the order of what is asked for."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tenure.model.heap import Ints

LEAST_ALIKE = 0.9
"""Of the requests of a trace: so many have to come again a period later."""
_LEAST_PERIODS = 3
_LEAST_REQUESTS = 2
_MOST_TRIED = 20


def period_of(requests: Ints) -> int | None:
    """After how many requests the same requests come again; None where they do not.

    A request is told by a number, of its bytes and stack. Its last three periods have to be alike: the first ones of a
    program warm up. Cost: a few passes over the trace for each of at most twenty lengths.
    """
    for length in _lengths(requests):
        last = requests[-_LEAST_PERIODS * length :]
        if length * _LEAST_PERIODS <= len(requests) and _alike(last, length) and len(np.unique(last)) > 1:
            return length
    return None


def _lengths(requests: Ints) -> list[int]:
    """The commonest distances between a request and the same one before, shortest first."""
    order = np.argsort(requests, kind="stable")
    same = np.diff(requests[order]) == 0
    distances = np.diff(order)[same]
    common = Counter(distances[distances >= _LEAST_REQUESTS].tolist()).most_common(_MOST_TRIED)
    return sorted(length for length, _ in common)


def _alike(requests: Ints, length: int) -> bool:
    return bool((requests[length:] == requests[:-length]).mean() >= LEAST_ALIKE)
