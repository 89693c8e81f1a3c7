"""Pools of their own, told from torch's segments; torch's calls are stood in for, as there is no device here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tenure.capture.sampling.private_pools import private_pool_counters, read_private_pools

SEGMENTS = [
    {"device": 0, "total_size": 2000, "allocated_size": 1000, "segment_pool_id": (0, 0)},
    {"device": 0, "total_size": 700, "allocated_size": 300, "segment_pool_id": (0, 1)},
    {"device": 0, "total_size": 50, "allocated_size": 20, "segment_pool_id": (0, 1)},
    {"device": 0, "total_size": 6, "allocated_size": 5, "segment_pool_id": (2, 0)},
    {"device": 1, "total_size": 9999, "allocated_size": 9999, "segment_pool_id": (0, 3)},
]
TOLD = {"num_private_pools": 2, "private_reserved_bytes": 756, "private_allocated_bytes": 325}


def start(monkeypatch: pytest.MonkeyPatch, snapshot: Callable[..., Any], *, recorded: bool = False) -> None:
    cuda = SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 0, memory_snapshot=snapshot)
    own = SimpleNamespace(_cuda_isHistoryEnabled=lambda: recorded)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, _C=own))


def older_snapshot() -> Any:
    return SEGMENTS


def test_pools_of_this_device_but_the_shared_one_are_counted() -> None:
    assert private_pool_counters(SEGMENTS, device=0) == TOLD


def test_a_device_without_any_has_none_of_no_bytes() -> None:
    none = {"num_private_pools": 0, "private_reserved_bytes": 0, "private_allocated_bytes": 0}

    assert private_pool_counters(SEGMENTS[:1], device=0) == none


def test_segments_that_do_not_say_their_pool_are_not_counted() -> None:
    assert private_pool_counters([{"device": 0, "total_size": 1, "allocated_size": 1}], device=0) == {}
    assert private_pool_counters([], device=0) == {}


def test_blocks_are_listed_without_the_record_of_allocations(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def snapshot(include_traces: bool = True) -> Any:
        asked.append(include_traces)
        return SEGMENTS

    start(monkeypatch, snapshot, recorded=True)

    assert (read_private_pools(), asked) == (TOLD, [False])


@pytest.mark.parametrize(("recorded", "told"), [(False, TOLD), (True, {})])
def test_an_older_torch_is_asked_only_where_it_records_nothing(
    monkeypatch: pytest.MonkeyPatch, recorded: bool, told: dict[str, int]
) -> None:
    start(monkeypatch, older_snapshot, recorded=recorded)

    assert read_private_pools() == told


def test_nothing_is_asked_while_a_graph_is_captured_or_before_a_device_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_private_pools() == {}

    def refuse() -> None:
        raise AssertionError("asked")

    start(monkeypatch, refuse)
    sys.modules["torch"].cuda.is_current_stream_capturing = lambda: True

    assert read_private_pools() == {}


def test_a_torch_that_refuses_to_say_costs_these_counters_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> bool:
        raise RuntimeError("Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing")

    start(monkeypatch, older_snapshot)
    sys.modules["torch"].cuda.is_current_stream_capturing = refuse

    assert read_private_pools() == {}
