"""Library caches of a device: their figures before and after, and that clearing really frees."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
import torch

import tenure
from gpu.release.devices import DEVICE, MIB, counted, does_not_wait, floats, row_of, taken
from tenure.release.caching.caches import LibraryCache
from tenure.release.outcome import DeviceBytes

COUNTS_PINNED_IN_USE = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)
_LAST = ("last_exc", "last_value", "last_type", "last_traceback")


@pytest.fixture(autouse=True)
def no_error_before() -> Iterator[None]:
    before = {name: vars(sys).pop(name) for name in _LAST if hasattr(sys, name)}
    yield
    for name in _LAST:
        vars(sys).pop(name, None)
    vars(sys).update(before)


def named(name: str) -> LibraryCache:
    (found,) = (each for each in tenure.caches() if each.name == name)
    return found


def test_listing_caches_waits_for_nothing() -> None:
    assert does_not_wait(tenure.caches)


def test_plans_of_transforms_are_counted_and_go() -> None:
    plans = torch.backends.cuda.cufft_plan_cache[0]
    plans.clear()
    signal, numbers = torch.ones(4096, device="cuda"), torch.ones(1000, dtype=torch.complex64, device="cuda")
    before = torch.fft.rfft(signal)
    torch.fft.fft(numbers)
    torch.fft.fft(numbers)
    listed, by_torch = named("cufft").num_entries, plans.size
    outcome = tenure.clear_caches("cufft")

    assert (listed, by_torch, plans.size, named("cufft").num_entries) == (2, 2, 0, 0)
    assert (outcome.did, outcome.kept) == (("cufft: cleared, 2 -> 0 entries",), ())
    assert torch.equal(torch.fft.rfft(signal), before)


def test_workspaces_of_matrix_products_come_back_and_are_made_again() -> None:
    wide = torch.ones(256, 256, device="cuda")
    before = torch.cuda.memory_allocated()
    product = wide @ wide
    workspace = torch.cuda.memory_allocated() - before - product.nbytes
    outcome = tenure.clear_caches("cublas")
    row = row_of(outcome)

    assert workspace > 0
    assert torch.cuda.memory_allocated() == before + product.nbytes
    assert (row.before_bytes - row.after_bytes, row.after_bytes) == (workspace, torch.cuda.memory_allocated())
    assert (outcome.did, outcome.survivors) == (("cublas: cleared",), ())
    assert torch.equal(wide @ wide, product)


@pytest.mark.skipif(not hasattr(torch.cuda, "host_memory_stats"), reason="this torch does not count pinned memory")
def test_pinned_memory_that_no_tensor_uses_goes_and_what_one_uses_stays() -> None:
    tenure.clear_caches("pinned")
    held = torch.ones(MIB, dtype=torch.uint8, pin_memory=True)
    torch.empty(4 * MIB, dtype=torch.uint8, pin_memory=True)
    listed, owned = named("pinned"), torch.cuda.host_memory_stats()["allocated_bytes.current"]
    outcome = tenure.clear_caches("pinned")
    left = torch.cuda.host_memory_stats()["allocated_bytes.current"]

    assert owned - left == 4 * MIB
    assert (int(held.sum()), held.is_pinned()) == (MIB, True)
    if COUNTS_PINNED_IN_USE:
        assert (listed.num_entries, listed.bytes, named("pinned").bytes) == (1, 4 * MIB, 0)
        assert outcome.did == ("pinned: cleared, 1 -> 0 entries, 4.00 MiB -> 0 B",)
    else:
        assert (listed.num_entries, listed.bytes) == (None, None)
        assert outcome.did == ("pinned: cleared",)


@pytest.mark.skipif(not hasattr(torch.cuda, "host_memory_stats"), reason="this torch does not count pinned memory")
def test_what_torch_counts_of_pinned_memory_in_use_is_believed_where_it_falls_again() -> None:
    """So that the version from which on it is believed is the right one."""
    before = torch.cuda.host_memory_stats().get("active_bytes.current")
    torch.empty(8 * MIB, dtype=torch.uint8, pin_memory=True)
    after = torch.cuda.host_memory_stats().get("active_bytes.current")

    assert (before is not None and before == after) == COUNTS_PINNED_IN_USE


def test_the_allocators_cache_goes_back_to_the_driver() -> None:
    held = taken(16)
    taken(64)
    allocated, reserved = counted()
    listed = named("allocator").bytes
    outcome = tenure.clear_caches("allocator")
    after = torch.cuda.memory_reserved()

    assert (listed, reserved - after) == (reserved - allocated, 64 * MIB)
    assert row_of(outcome) == DeviceBytes(DEVICE, allocated, allocated, None, None, reserved, after)
    assert named("allocator").bytes == after - allocated
    assert [each for each in outcome.survivors if "held" in "".join(each.path)] == []
    assert len(held) == 16 * MIB


def fail_with(mebibytes: int, *, ring: bool = False) -> None:
    def fail() -> None:
        activations = taken(mebibytes)
        around: list[object] = [activations]
        if ring:
            around.append(around)
        raise RuntimeError("as at the prompt")

    try:
        fail()
    except RuntimeError as error:
        sys.last_value, sys.last_type, sys.last_traceback = error, type(error), error.__traceback__


ORDERS = [("last_error", "allocator"), ("allocator", "last_error")]


@pytest.mark.parametrize("names", ORDERS)
def test_memory_of_the_last_error_goes_back_to_the_driver_in_whatever_order_it_is_asked_for(
    names: tuple[str, str],
) -> None:
    before = counted()
    fail_with(64)
    listed, during = named("last_error"), counted()
    outcome = tenure.clear_caches(*names)
    after = counted()

    assert (listed.num_entries, listed.bytes) == (2, 64 * MIB)
    assert (during[0] - before[0], after) == (64 * MIB, before)
    assert outcome.survivors == ()


def test_memory_of_the_last_error_that_only_a_collection_frees_goes_back_to_the_driver_too() -> None:
    before = counted()
    gc.disable()
    try:
        fail_with(64, ring=True)
        tenure.clear_caches("last_error", "allocator")
    finally:
        gc.enable()

    assert counted() == before


def test_copies_that_autocast_keeps_go_and_are_made_again() -> None:
    weight, batch = floats(16, requires_grad=True).view(2048, 2048).detach().requires_grad_(), floats(1).view(-1, 2048)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        torch.nn.functional.linear(batch, weight)
        before = torch.cuda.memory_allocated()
        outcome = tenure.clear_caches("autocast")
        after = torch.cuda.memory_allocated()
        torch.nn.functional.linear(batch, weight)
        again = torch.cuda.memory_allocated()

    assert (before - after, again) == (8 * MIB, before)
    assert (row_of(outcome).before_bytes, row_of(outcome).after_bytes) == (before, after)
    assert outcome.did == ("autocast: cleared",)


def test_all_device_caches_are_cleared_at_once_and_nothing_is_left() -> None:
    before = counted()
    wide = torch.ones(256, 256, device="cuda")
    torch.fft.rfft(wide @ wide)
    torch.empty(MIB, dtype=torch.uint8, pin_memory=True)
    del wide
    outcome = tenure.clear_caches("allocator", "pinned", "cublas", "cufft")

    assert counted() == before
    assert [each.partition(":")[0] for each in outcome.did] == ["allocator", "pinned", "cublas", "cufft"]
