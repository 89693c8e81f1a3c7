"""Which operation of one profiled step does what another one of the other step does."""

from __future__ import annotations

import numpy as np

from tenure.model.heap import Ints
from tenure.model.profile import StepProfile


def partners_of_operations(profile: StepProfile) -> list[int]:
    """For each operation the other step's of the same name and place that comes as the same in order; -1 for none."""
    columns = profile.operations
    keys = list(zip(columns.name.tolist(), columns.site.tolist(), columns.phase.tolist(), strict=True))
    places: tuple[dict[tuple[int, int, int], list[int]], ...] = ({}, {})
    for number, key in enumerate(keys):
        places[number >= profile.second].setdefault(key, []).append(number)
    partner = [-1] * len(keys)
    for key, numbers in places[0].items():
        for one, other in zip(numbers, places[1].get(key, ()), strict=False):
            partner[one], partner[other] = other, one
    return partner


def kinds_of_operations(profile: StepProfile) -> Ints:
    """Of each operation a number that those of its name, place and phase share."""
    columns = profile.operations
    numbers: dict[tuple[int, int, int], int] = {}
    keys = zip(columns.name.tolist(), columns.site.tolist(), columns.phase.tolist(), strict=True)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
