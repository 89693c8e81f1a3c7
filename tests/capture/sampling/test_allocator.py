from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tenure.capture.sampling.allocator import flat_counters, may_have_others, nested_counters, read_allocator

POOLS = {"all": {"current": 7, "peak": 9, "allocated": 20, "freed": 13}, "small_pool": {"current": 2, "peak": 3}}
EXPECTED = {
    **{f"{name}_bytes": 7 for name in ("allocated", "active", "reserved", "inactive_split", "requested")},
    **{f"{name}_peak_bytes": 9 for name in ("allocated", "active", "reserved")},
    **{f"{name}_small_bytes": 2 for name in ("allocated", "active", "reserved", "inactive_split", "requested")},
    **{"num_alloc_retries": 1, "num_ooms": 0},
}


def stats() -> dict[str, object]:
    sizes = {f"{name}_bytes": POOLS for name in ("allocated", "active", "reserved", "inactive_split", "requested")}
    return {**sizes, "active": POOLS, "num_alloc_retries": 1, "num_ooms": 0, "max_split_size": -1}


def test_nested_and_flat_statistics_give_the_same_counters() -> None:
    flat = {
        f"{name}.{pool}.{field}": value
        for name, pools in stats().items()
        if isinstance(pools, dict)
        for pool, fields in pools.items()
        for field, value in fields.items()
    }

    assert nested_counters(stats()) == flat_counters(flat | {"num_alloc_retries": 1, "num_ooms": 0}) == EXPECTED


def test_what_an_allocator_does_not_count_is_absent() -> None:
    assert nested_counters({"allocated_bytes": {"all": {"current": 5}}, "reserved_bytes": 3}) == {"allocated_bytes": 5}
    assert flat_counters({"allocated_bytes.all.current": 5}) == {"allocated_bytes": 5}


def test_nothing_is_counted_and_nothing_started_where_the_program_uses_no_device() -> None:
    assert read_allocator() == {}


@pytest.mark.parametrize(
    ("available", "allocated", "told"),
    [(True, 5, {"allocated_bytes": 5, "reserved_bytes": 40}), (True, 0, {}), (False, 5, {})],
)
def test_apples_devices_are_counted_by_their_own_two_figures_where_no_other_says_anything(
    monkeypatch: pytest.MonkeyPatch, available: bool, allocated: int, told: dict[str, int]
) -> None:
    mps = SimpleNamespace(current_allocated_memory=lambda: allocated, driver_allocated_memory=lambda: 40)
    backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: available))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(mps=mps, backends=backends))

    assert read_allocator() == told
    assert read_allocator(others=False) == {}
    assert may_have_others() is available


@pytest.mark.parametrize(("kind", "is_other"), [("mtia", True), ("cuda", False), (None, False)])
def test_an_accelerator_that_is_neither_cuda_nor_xpu_may_be_there_before_it_is_started(
    monkeypatch: pytest.MonkeyPatch, kind: str | None, is_other: bool
) -> None:
    found = None if kind is None else SimpleNamespace(type=kind)
    accelerator = SimpleNamespace(current_accelerator=lambda: found, memory_stats=dict)
    started = SimpleNamespace(_accelerator_isAllocatorInitialized=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(accelerator=accelerator, _C=started))

    assert may_have_others() is is_other
    assert read_allocator() == {}
