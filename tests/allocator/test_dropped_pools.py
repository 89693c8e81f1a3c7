"""Private pools that are gone at a trace's end are inferred from what goes back, and in which order."""

from __future__ import annotations

import pickle
from typing import Any

from tenure.allocator.pools import pools_of_events
from tenure.allocator.settings import MIB
from tenure.model.allocator import Action
from tenure.store.torch_snapshot import snapshot_from_bytes

LARGE, SMALL = 20 * MIB, 2 * MIB
BASE = 0x7F0000000000


class _Trace:
    """Segments by name, each with one block of all of it; a small one's name ends in `s`."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.at: dict[str, int] = {}

    def note(self, action: str, name: str) -> None:
        size = SMALL if name.endswith("s") else LARGE
        told = {"action": action, "addr": self.at[name], "size": size, "stream": 0, "time_us": 1, "frames": []}
        self.events.append(told)

    def made(self, *names: str) -> None:
        for name in names:
            self.at[name] = BASE + len(self.at) * 64 * MIB
            self.note("segment_alloc", name)
            self.note("alloc", name)

    def freed(self, *names: str) -> None:
        for name in names:
            self.note("free_requested", name)
            self.note("free_completed", name)

    def gone(self, *names: str) -> None:
        for name in names:
            self.note("segment_free", name)

    def pools(self, settings: dict[str, Any] | None = None) -> dict[str, tuple[int, int]]:
        """The pool of each allocation."""
        told = {"segments": [], "device_traces": [self.events], "allocator_settings": settings or {}}
        snapshot = snapshot_from_bytes(pickle.dumps(told), "made")
        events = snapshot.traces[0]
        found = pools_of_events(snapshot, 0, events)
        name_at = {address: name for name, address in self.at.items()}
        rows = zip(events.action.tolist(), events.address.tolist(), found.rows.tolist(), strict=True)
        return {name_at[at]: found.pools[pool] for action, at, pool in rows if action == Action.ALLOC}


def test_what_goes_back_in_one_order_is_of_the_pool_of_all() -> None:
    trace = _Trace()
    trace.made("a", "b", "cs")
    trace.freed("a", "b", "cs")
    trace.gone("a", "b", "cs")

    assert set(trace.pools().values()) == {(0, 0)}


def test_small_segments_before_large_ones_are_a_private_pools() -> None:
    trace = _Trace()
    trace.made("a", "p", "qs")
    trace.freed("p", "qs")
    trace.gone("qs", "p")

    assert trace.pools() == {"a": (0, 0), "p": (-1, 0), "qs": (-1, 0)}


def test_behind_the_pool_of_all_another_order_begins() -> None:
    trace = _Trace()
    trace.made("p", "qs", "a", "bs")
    trace.freed("p", "qs", "a", "bs")
    trace.gone("a", "bs", "qs", "p")

    assert trace.pools() == {"p": (-1, 0), "qs": (-1, 0), "a": (0, 0), "bs": (0, 0)}


def test_what_goes_back_while_free_segments_of_the_pool_of_all_stay_is_private() -> None:
    trace = _Trace()
    trace.made("a", "p", "qs")
    trace.freed("a", "p", "qs")
    trace.gone("qs", "p")
    trace.made("r")
    trace.freed("r")
    trace.gone("a", "r")

    assert trace.pools() == {"a": (0, 0), "p": (-1, 0), "qs": (-1, 0), "r": (0, 0)}


def test_settings_that_give_back_a_part_leave_nothing_to_infer() -> None:
    trace = _Trace()
    trace.made("a", "p", "qs")
    trace.freed("p", "qs")
    trace.gone("qs", "p")

    assert set(trace.pools({"max_split_size": 32 * MIB}).values()) == {(0, 0)}
