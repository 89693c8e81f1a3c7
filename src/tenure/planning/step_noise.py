"""By how much two steps of one run differ in bytes where they ran the same operations: sizes that depend on values."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from tenure.model.heap import Ints
from tenure.model.profile import ALIVE
from tenure.model.stream import StepStream
from tenure.planning.on_cuda import bytes_on_cuda


def twin_differences(stream: StepStream) -> Ints:
    """Of each storage that the second step made, its bytes less those of what the first made at the same place; of one
    of the first step the other way round, and 0 for all others. Operations of both steps have to be the same."""
    storages, second = stream.profile.storages, stream.profile.second
    found = np.zeros(len(storages.bytes), dtype=np.int64)
    if not runs_the_same_twice(stream):
        return found
    sizes, births = bytes_on_cuda(stream)[0], storages.birth.tolist()
    made: defaultdict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero((stream.owners.on_device == 1) & (storages.birth >= 0)).tolist():
        made[births[row]].append(row)
    for at in range(second):
        first, later = made.get(at, []), made.get(at + second, [])
        if len(first) == len(later):
            found[later] = sizes[later] - sizes[first]
            found[first] = -found[later]
    return found


def runs_the_same_twice(stream: StepStream) -> bool:
    """Whether both steps ran the same operations."""
    second, names = stream.profile.second, stream.profile.operations.name.tolist()
    return bool(names[:second] == names[second:])


def noise_in_use(stream: StepStream) -> int:
    """By how many bytes in use the two steps differ at most, for what they made themselves."""
    second, differences = stream.profile.second, twin_differences(stream).copy()
    storages = stream.profile.storages
    of_first = (storages.birth >= 0) & (storages.birth < second)
    rows = np.flatnonzero(of_first & (differences != 0))
    if not len(rows):
        return 0
    return int(np.abs(bytes_in_use(stream, rows.tolist(), differences[rows])).max())


def bytes_in_use(stream: StepStream, rows: list[int], sizes: Ints) -> Ints:
    """At each operation the sum of what is alive of these storages, not rounded."""
    storages, count = stream.profile.storages, stream.profile.num_operations
    changes = np.zeros(count + 1, dtype=np.int64)
    births, deaths = storages.birth[rows], storages.death[rows]
    np.add.at(changes, np.maximum(births, 0), sizes)
    dies = deaths != ALIVE
    np.add.at(changes, np.maximum(deaths, 0)[dies] + 1, -sizes[dies])
    found: Ints = np.cumsum(changes)[:count]
    return found


def place_of_noise(stream: StepStream) -> str:
    """The first operation whose results differ between the two steps, and its line; "" where none do."""
    profile = stream.profile
    rows = np.flatnonzero(twin_differences(stream))
    if not len(rows):
        return ""
    at = int(profile.storages.birth[rows].min())
    name, site = profile.text(int(profile.operations.name[at])), int(profile.operations.site[at])
    if site < 0:
        return name
    return f"{name} in {Path(profile.text(int(profile.sites.file[site]))).name}:{int(profile.sites.line[site])}"
