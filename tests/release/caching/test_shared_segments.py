"""Segments that cannot be given back, and who holds the tensors in them."""

from __future__ import annotations

import pytest
import torch

from tenure.release.caching.caches import clear_caches
from tenure.release.caching.shared_segments import _refs_within, shared_ranges, who_keeps_segments


def segment(device: int, address: int, active: int) -> dict[str, int]:
    return {"device": device, "address": address, "total_size": 100, "active_size": active}


def test_segments_that_are_in_use_and_not_full_are_shared() -> None:
    segments = [segment(0, 500, 40), segment(0, 0, 100), segment(0, 200, 0), segment(1, 900, 1), segment(0, 300, 99)]

    assert shared_ranges(segments, [0]) == [(300, 400), (500, 600)]
    assert shared_ranges(segments, [0, 1]) == [(300, 400), (500, 600), (900, 1000)]


def test_on_the_cpu_there_are_none() -> None:
    assert who_keeps_segments(["cpu"]) == ()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_small_tensor_in_a_large_segment_is_told_by_who_holds_it() -> None:
    wide = torch.empty(4 << 20, dtype=torch.uint8, device="cuda")
    small = [torch.empty(2 << 20, dtype=torch.uint8, device="cuda")]
    del wide
    outcome = clear_caches("allocator")

    told = [each for each in outcome.survivors if "small" in "".join(each.path)]
    assert [(each.bytes, each.device) for each in told] == [(2 << 20, "cuda:0")]
    small.clear()


def test_memory_of_other_devices_is_not_touched_while_holders_are_looked_for() -> None:
    kept = torch.ones(1000)
    copy = torch._lazy_clone(kept)
    everywhere = [(0, 1 << 62)]

    assert list(_refs_within(everywhere)) == []
    assert torch._C._is_cow_tensor(copy)
