"""TensorPool on a device: streams do not share buffers, and no buffer is overwritten while the device works with it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import tenure
from gpu.release.devices import DEVICE, MIB, taken
from tenure.release.caching.pool import PoolOutcome
from tenure.release.outcome import DeviceBytes

LONG = 500_000_000
"""Cycles: a third of a second or so."""


def test_a_buffer_given_back_on_one_stream_is_not_handed_out_on_another_and_is_again_on_its_own() -> None:
    pool, one, other = tenure.TensorPool(), torch.cuda.Stream(), torch.cuda.Stream()
    addresses, kept = [], []
    for stream in (one, other, one, other):
        with torch.cuda.stream(stream):
            buffer = pool.take((1024,), device="cuda")
            addresses.append(buffer.data_ptr())
            kept.append(pool.give_back(buffer))
            del buffer

    assert kept == [True] * 4
    assert addresses[0] != addresses[1]
    assert addresses[2:] == addresses[:2]
    assert pool.outcome == PoolOutcome(2, 8192, num_reused=2, num_made=2)


def test_values_written_on_one_stream_arrive_on_another_that_waits_and_the_buffer_is_used_again() -> None:
    pool, one, other = tenure.TensorPool(), torch.cuda.Stream(), torch.cuda.Stream()
    read = []
    for number in range(3):
        with torch.cuda.stream(one), pool.borrow((MIB,), device="cuda") as buffer:
            torch.cuda._sleep(LONG // 10)
            buffer.fill_(number)
            written = one.record_event()
            with torch.cuda.stream(other):
                other.wait_event(written)
                read.append(buffer.sum())
            one.wait_stream(other)
        del buffer
    torch.cuda.synchronize()

    assert [float(each) for each in read] == [0.0, MIB, 2 * MIB]
    assert pool.outcome == PoolOutcome(1, 4 * MIB, num_reused=2, num_made=1)


def test_on_one_stream_a_buffer_is_used_again_while_the_device_still_works_with_it_and_values_are_right() -> None:
    pool, read = tenure.TensorPool(), []
    for number in range(1, 4):
        with pool.borrow((MIB,), device="cuda") as buffer:
            torch.cuda._sleep(LONG // 10)
            buffer.fill_(number)
            read.append(buffer * 1)
        del buffer
    torch.cuda.synchronize()

    assert [int(each.unique().item()) for each in read] == [1, 2, 3]
    assert (pool.outcome.num_made, pool.outcome.num_reused) == (1, 2)


def test_a_pinned_buffer_whose_copy_is_under_way_is_not_overwritten_by_its_next_user() -> None:
    pool, landed = tenure.TensorPool(), torch.zeros(MIB, device="cuda")
    with pool.borrow((MIB,), pinned=True) as staging:
        staging.fill_(1)
        torch.cuda._sleep(LONG)
        landed.copy_(staging, non_blocking=True)
    del staging
    with pool.borrow((MIB,), pinned=True) as staging:
        staging.fill_(2)
    torch.cuda.synchronize()

    assert landed.unique().tolist() == [1.0]


def test_a_pinned_buffer_whose_copy_has_arrived_is_used_again_and_is_no_ordinary_one() -> None:
    pool, landed = tenure.TensorPool(), torch.zeros(MIB, device="cuda")
    addresses = []
    for number in range(3):
        with pool.borrow((MIB,), pinned=True) as staging:
            addresses.append(staging.data_ptr())
            staging.fill_(number)
            landed.copy_(staging, non_blocking=True)
            torch.cuda.synchronize()
        del staging
    ordinary = pool.take((MIB,))

    assert (len(set(addresses)), landed.unique().tolist()) == (1, [2.0])
    assert (ordinary.is_pinned(), ordinary.data_ptr() in addresses) == (False, False)
    assert (pool.outcome.num_made, pool.outcome.num_reused, pool.outcome.kept_bytes) == (2, 2, 4 * MIB)


def test_a_buffer_dropped_on_a_stream_that_still_works_with_it_is_not_given_to_another_stream() -> None:
    """What `torch.empty` gives on a stream may be dropped there at once; so may what a pool gives."""
    pool, one, other = tenure.TensorPool(), torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(one):
        buffer = pool.take((16 * MIB,), dtype=torch.uint8, device="cuda")
    with torch.cuda.stream(other):
        other.wait_stream(one)
        pool.give_back(buffer)
        del buffer
        buffer = pool.take((16 * MIB,), dtype=torch.uint8, device="cuda")
        address = buffer.data_ptr()
        torch.cuda._sleep(LONG)
        buffer.fill_(1)
        done = other.record_event()
        del buffer
    is_over = done.query()
    with torch.cuda.stream(one):
        next_one = taken(16)
    torch.cuda.synchronize()

    assert not is_over
    assert (pool.outcome.num_made, pool.outcome.num_reused) == (1, 1)
    assert next_one.data_ptr() != address


def test_a_buffer_that_is_let_go_of_on_another_stream_than_its_own_waits_for_that_one_too() -> None:
    """Given back to a pool that cannot keep it, by a stream that still works with it."""
    pool, one, other = tenure.TensorPool(most_bytes=MIB), torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(one):
        buffer = pool.take((16 * MIB,), dtype=torch.uint8, device="cuda")
        address = buffer.data_ptr()
    other.wait_stream(one)
    with torch.cuda.stream(other):
        torch.cuda._sleep(LONG)
        buffer.fill_(1)
        done = other.record_event()
        kept = pool.give_back(buffer)
        del buffer
    is_over = done.query()
    with torch.cuda.stream(one):
        next_one = taken(16)
    torch.cuda.synchronize()

    assert (kept, is_over) == (False, False)
    assert next_one.data_ptr() != address


def test_what_is_given_back_while_a_graph_is_captured_is_nobody_elses() -> None:
    pool, graph = tenure.TensorPool(), torch.cuda.CUDAGraph()
    pool.give_back(pool.take((MIB,), device="cuda").fill_(2))
    with torch.cuda.graph(graph):
        inside = pool.take((MIB,), device="cuda").fill_(1)
        address = inside.data_ptr()
        kept = pool.give_back(inside)
        del inside
    after = pool.take((MIB,), device="cuda").zero_()
    graph.replay()
    torch.cuda.synchronize()

    assert (kept, after.data_ptr() == address, float(after.sum())) == (False, False, 0.0)
    assert (pool.outcome.num_made, pool.outcome.num_reused) == (2, 1)


def a_view(buffer: torch.Tensor) -> Any:
    return buffer[:2]


def a_graph(buffer: torch.Tensor) -> Any:
    return torch.ones(4, requires_grad=True, device="cuda") * buffer


def a_second_name(buffer: torch.Tensor) -> Any:
    return [buffer]


@pytest.mark.parametrize("hold", [a_view, a_graph, a_second_name])
def test_a_buffer_of_the_device_that_somebody_still_holds_is_refused_and_its_holder_named(hold: Any) -> None:
    pool = tenure.TensorPool()
    buffer = pool.take((4,), device="cuda").zero_()
    address, held = buffer.data_ptr(), hold(buffer)
    given_back = pool.give_back(buffer)
    del buffer
    outcome = pool.outcome
    (survivor,) = outcome.survivors
    again = pool.take((4,), device="cuda")

    assert (given_back, outcome.num_refused, outcome.num_kept) == (False, 1, 0)
    assert (survivor.what, survivor.device, survivor.bytes) == ("a buffer [4] float32", DEVICE, 512)
    assert "held" in "".join(survivor.path)
    assert again.data_ptr() != address
    del held
    assert outcome.survivors == (survivor,)
    assert pool.outcome.survivors == ()


def test_a_pool_that_is_cleared_or_full_gives_its_memory_back_to_the_allocator() -> None:
    before = torch.cuda.memory_allocated()
    pool = tenure.TensorPool(most_bytes=40 * MIB)
    buffers = [pool.take((16 * MIB + number,), dtype=torch.uint8, device="cuda") for number in range(3)]
    while buffers:
        pool.give_back(buffers.pop(0))
    kept = torch.cuda.memory_allocated() - before
    full = pool.outcome
    cleared = pool.clear()

    assert (full.num_kept, full.num_evicted, kept >= 2 * 16 * MIB, kept < 48 * MIB) == (2, 1, True, True)
    assert cleared.devices == (DeviceBytes(DEVICE, 32 * MIB + 1024, 0, 32 * MIB + 1024, 32 * MIB + 1024),)
    assert (torch.cuda.memory_allocated(), cleared.survivors) == (before, ())
