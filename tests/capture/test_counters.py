from __future__ import annotations

from tenure.capture.counters import pinned_counters


def test_pinned_memory_is_counted_as_owned_and_as_in_use() -> None:
    stats = {
        "allocated_bytes": {"current": 4096, "peak": 8192, "allocated": 9000, "freed": 4904},
        "active_bytes": {"current": 100, "peak": 200, "allocated": 300, "freed": 200},
        "num_host_alloc": 3,
    }

    assert pinned_counters(stats, "2.13.0+cu130") == {"pinned_bytes": 4096, "pinned_active_bytes": 100}
    assert pinned_counters(stats, "2.12.1") == {"pinned_bytes": 4096}  # what is in use never falls there


def test_what_this_torch_does_not_count_is_absent() -> None:
    assert pinned_counters({}, "2.13.0") == {}
    assert pinned_counters({"allocated_bytes": {"peak": 1}}, "2.13.0") == {}
