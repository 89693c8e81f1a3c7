"""What the recorded allocator gave back of itself, and what of it is played where."""

from __future__ import annotations

import numpy as np
import pytest

from allocator.test_recorded_on_cuda import NAMES, counts_of, recorded, snapshot_of
from tenure.allocator.own_releases import Why, own_releases
from tenure.allocator.played import played, played_in_python
from tenure.allocator.requests import Kind, Requests
from tenure.allocator.settings import MIB, AllocatorSettings, settings_of_snapshot

COLLECTING = AllocatorSettings(garbage_collection_threshold=0.5)
NOT_SPLIT = AllocatorSettings(max_split_bytes=32 * MIB)


def kinds_in(name: str) -> set[Why]:
    snapshot = snapshot_of(name)
    return {each.why for each in own_releases(snapshot, 0, snapshot.traces[0], settings_of_snapshot(snapshot.settings))}


@pytest.mark.parametrize("name", recorded(NAMES))
def test_what_torch_did_of_itself_is_found_and_nothing_else(name: str) -> None:
    wanted = set()
    if counts_of(name)["num_alloc_retries"]:
        wanted |= {Why.RETRY}
    if name == "max_split":
        wanted |= {Why.OVERSIZED}
    if name in ("growing_collected", "training_collected"):
        wanted |= {Why.COLLECTED}

    assert kinds_in(name) == wanted


def after(kind: Kind, size: int) -> Requests:
    """40 and 50 MiB that are free, then what the allocator did of itself, then 60 MiB."""
    rows = [
        (Kind.ALLOCATE, 0, 40 * MIB),
        (Kind.ALLOCATE, 1, 50 * MIB),
        (Kind.FREE, 0, 0),
        (Kind.FREE, 1, 0),
        (kind, -1, size),
        (Kind.ALLOCATE, 2, 60 * MIB),
    ]
    kinds, numbers, sizes = np.array(rows, dtype=np.int64).T
    nothing = np.zeros(len(rows), dtype=np.int64)
    return Requests(kinds, numbers, sizes, nothing, nothing, ((0, 0),), 0)


@pytest.mark.parametrize(
    ("kind", "size", "settings", "total", "peak"),
    [
        (Kind.RETRY, 0, AllocatorSettings(), None, 90),
        (Kind.RETRY, 0, AllocatorSettings(), 1_000, 150),  # there was room: nothing had to go back
        (Kind.RETRY, 0, AllocatorSettings(), 100, 90),
        (Kind.GIVE_BACK, 0, AllocatorSettings(), 1_000, 90),
        (Kind.COLLECT, 30, COLLECTING, None, 90),  # both are as old
        (Kind.COLLECT, 30, AllocatorSettings(), None, 150),  # no such rule
        (Kind.OVERSIZED, 60, NOT_SPLIT, None, 90),
        (Kind.OVERSIZED, 45, NOT_SPLIT, None, 100),
        (Kind.OVERSIZED, 60, AllocatorSettings(), None, 150),
    ],
)
def test_it_is_played_where_the_settings_have_such_a_rule_and_the_devices_memory_is_not_known(
    kind: Kind, size: int, settings: AllocatorSettings, total: int | None, peak: int
) -> None:
    requests = after(kind, size * MIB)
    total_bytes = None if total is None else total * MIB

    found = played(requests, settings, total_bytes=total_bytes)

    assert found.peak_reserved_bytes == peak * MIB
    assert found == played_in_python(requests, settings, total_bytes=total_bytes)
