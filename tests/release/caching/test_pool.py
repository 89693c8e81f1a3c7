"""TensorPool: buffers are used again, within a bound, and never while somebody else holds them."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

from release.caching.stub_device import Stream, StubDevice
from tenure.errors import UsageError
from tenure.release.caching.pool import PoolOutcome, TensorPool
from tenure.release.outcome import DeviceBytes


def test_a_buffer_given_back_is_used_again_for_the_same_shape_dtype_and_device(device: str) -> None:
    pool = TensorPool()
    with pool.borrow((4, 8), device=device) as buffer:
        address = buffer.data_ptr()
    del buffer
    again = pool.take((4, 8), device=device)
    other = pool.take((8, 4), device=device)
    third = pool.take((4, 8), dtype=torch.int64, device=device)

    assert again.data_ptr() == address
    assert (other.shape, third.dtype, third.device.type) == ((8, 4), torch.int64, device)
    assert pool.outcome == PoolOutcome(num_reused=1, num_made=3)


def test_give_back_says_whether_the_buffer_was_kept() -> None:
    pool = TensorPool()
    buffer = pool.take((4,))

    assert pool.give_back(buffer)
    assert pool.outcome == PoolOutcome(num_kept=1, kept_bytes=16, num_made=1)
    del buffer
    cleared = pool.clear()
    assert cleared == PoolOutcome(num_evicted=1, devices=(DeviceBytes("cpu", 16, 0, 16, 16),))
    assert (cleared.before_bytes, cleared.after_bytes, cleared.freed_bytes, cleared.survivors) == (16, 0, 16, ())
    assert pool.outcome == PoolOutcome(num_made=1)


def test_a_cleared_buffer_that_a_name_of_its_former_user_still_has_is_told() -> None:
    pool = TensorPool()
    buffer = pool.take((64,))
    pool.give_back(buffer)
    cleared = pool.clear()

    assert (cleared.devices, cleared.freed_bytes) == ((DeviceBytes("cpu", 256, 0, 256, 0),), 0)
    (survivor,) = cleared.survivors
    assert (survivor.what, survivor.bytes) == ("a buffer [64] float32", 256)
    assert survivor.cut[0].startswith("`buffer` in test_a_cleared_buffer_that_a_name")
    del buffer
    assert pool.clear().survivors == ()


def a_view(buffer: torch.Tensor) -> Any:
    return buffer[:2]


def a_second_name(buffer: torch.Tensor) -> Any:
    return [buffer]


def a_graph(buffer: torch.Tensor) -> Any:
    return torch.ones(4, requires_grad=True) * buffer


def its_storage(buffer: torch.Tensor) -> Any:
    return torch.empty(0).set_(buffer.untyped_storage())


@pytest.mark.parametrize("hold", [a_view, a_second_name, a_graph, its_storage])
def test_a_buffer_that_somebody_still_holds_is_not_used_again(hold: Any) -> None:
    pool = TensorPool()
    buffer = pool.take((4,)).zero_()
    held = hold(buffer)
    given_back = pool.give_back(buffer)
    with pool.borrow((4,)) as borrowed:
        borrowed.zero_()
        also_held = hold(borrowed)

    assert not given_back
    assert pool.outcome == PoolOutcome(num_made=2, num_refused=2)
    del held, also_held


def test_who_holds_a_refused_buffer_is_told_when_asked_and_as_long_as_it_does() -> None:
    pool = TensorPool()
    buffer = pool.take((64,))
    first_half = [buffer[:32]]
    pool.give_back(buffer)
    del buffer
    outcome = pool.outcome

    (survivor,) = outcome.survivors
    assert (survivor.what, survivor.bytes) == ("a buffer [64] float32", 256)
    assert survivor.cut[0].startswith("`first_half` in test_who_holds_a_refused_buffer")
    first_half.clear()
    assert pool.outcome.survivors == ()


@pytest.mark.parametrize("shape", [(-1,), (2.5,), 3, "a", None])
def test_a_shape_that_is_none_is_refused_and_nothing_is_made(shape: Any) -> None:
    pool = TensorPool()
    with pytest.raises(UsageError, match=r"needs a shape like \(32, 1024\)"):
        pool.take(shape)

    assert pool.outcome == PoolOutcome()


@pytest.mark.parametrize("size", [-1, None, 1.5, "-3MiB"])
def test_a_bound_that_is_no_size_is_refused(size: Any) -> None:
    with pytest.raises(UsageError, match="is no size"):
        TensorPool(most_bytes=size)


def test_only_tensors_are_given_back() -> None:
    with pytest.raises(UsageError, match="a list was given"):
        TensorPool().give_back([torch.ones(3)])  # type: ignore[arg-type]


def test_what_is_no_whole_buffer_is_refused() -> None:
    pool = TensorPool()
    wide = torch.ones(4, 4)

    assert not pool.give_back(wide[0])
    assert not pool.give_back(torch.ones(4, requires_grad=True))
    assert not pool.give_back(torch.ones(4, 3).t())
    assert pool.outcome == PoolOutcome(num_refused=3)


def test_the_bound_holds_and_the_buffer_unused_longest_goes_first() -> None:
    pool = TensorPool(most_bytes=100)
    first, second, third = (pool.take((count,), dtype=torch.uint8) for count in (40, 50, 30))
    addresses = {each.numel(): each.data_ptr() for each in (first, second, third)}
    assert [pool.give_back(first), pool.give_back(second), pool.give_back(third)] == [True, True, True]
    del first, second, third
    huge = pool.take((101,), dtype=torch.uint8)

    assert not pool.give_back(huge)
    assert pool.outcome == PoolOutcome(2, 80, num_made=4, num_evicted=2)
    assert pool.take((50,), dtype=torch.uint8).data_ptr() == addresses[50]


def test_a_block_that_raises_gives_its_buffer_back() -> None:
    pool = TensorPool()
    with pytest.raises(ValueError, match="mine"), pool.borrow((4,)):
        raise ValueError("mine")

    assert pool.outcome == PoolOutcome(num_kept=1, kept_bytes=16, num_made=1)


def test_threads_never_share_a_buffer() -> None:
    pool = TensorPool()
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(300):
            with pool.borrow((64,)) as buffer:
                buffer.fill_(number)
                if not bool((buffer == number).all()):
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcome = pool.outcome

    assert wrong == []
    assert outcome.num_made + outcome.num_reused == 1200
    # One that a thread is given while the thread before it has not yet let go of its name is refused, not shared.
    assert outcome.num_kept + outcome.num_refused == outcome.num_made


def test_mistakes_in_the_request_are_told() -> None:
    with pytest.raises(UsageError, match="TensorPool: 'lots' is no size"):
        TensorPool(most_bytes="lots")
    with pytest.raises(UsageError, match="a buffer needs a shape"):
        TensorPool().take((2, "x"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a device like 'cuda:0'"):
        TensorPool().take((2,), device="nowhere")
    with pytest.raises(UsageError, match=r"a dtype like torch\.float32; 'float32' was given"):
        TensorPool().take((2,), dtype="float32")  # type: ignore[arg-type]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
@pytest.mark.parametrize(("request_", "said"), [({"pinned": True}, "that is pinned"), ({"device": "cuda"}, "on cuda")])
def test_a_buffer_that_needs_a_device_is_refused_without_one(request_: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=f"a buffer {said} needs a CUDA device; there is none"):
        TensorPool().take((2,), **request_)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> StubDevice:
    return StubDevice(monkeypatch)


def given_back(pool: TensorPool, *, pinned: bool = True) -> int:
    """The address of a buffer that was taken, and given back."""
    buffer = pool.take((64,), pinned=pinned)
    pool.give_back(buffer)
    return buffer.data_ptr()


def test_a_pinned_buffer_from_which_a_copy_is_under_way_is_handed_out_when_it_has_arrived(stub: StubDevice) -> None:
    pool = TensorPool()
    stub.stream = Stream(is_busy=True)
    first = given_back(pool)
    second = pool.take((64,), pinned=True)
    stub.stream.is_busy = False
    third = pool.take((64,), pinned=True)

    assert (second.data_ptr() == first, third.data_ptr() == first) == (False, True)
    assert pool.outcome == PoolOutcome(num_reused=1, num_made=2)


def test_a_pinned_buffer_whose_copy_has_arrived_is_handed_out_before_one_whose_copy_has_not(stub: StubDevice) -> None:
    pool = TensorPool()
    arrived, busy = pool.take((64,), pinned=True), pool.take((64,), pinned=True)
    address = arrived.data_ptr()
    pool.give_back(arrived)
    stub.stream = Stream(is_busy=True)
    pool.give_back(busy)
    del arrived, busy

    first, second = pool.take((64,), pinned=True), pool.take((64,), pinned=True)
    assert (first.data_ptr() == address, second.data_ptr() == address) == (True, False)
    assert pool.outcome == PoolOutcome(num_kept=1, kept_bytes=256, num_reused=1, num_made=3)


def test_a_buffer_pinned_before_cuda_was_started_is_known_to_be_pinned(stub: StubDevice) -> None:
    pool = TensorPool()
    first = given_back(pool)
    plain, again = pool.take((64,)), pool.take((64,), pinned=True)

    assert stub.is_started
    assert (plain.data_ptr() == first, again.data_ptr() == first) == (False, True)


def test_buffers_of_the_host_start_no_driver_and_wait_for_nothing(stub: StubDevice) -> None:
    pool = TensorPool()
    first = given_back(pool, pinned=False)

    assert pool.take((64,)).data_ptr() == first
    assert set(stub.asked) == {"is_initialized"}


def test_while_a_graph_is_captured_pinned_buffers_are_neither_kept_nor_handed_out_again(stub: StubDevice) -> None:
    pool = TensorPool()
    first = given_back(pool)
    with stub.captured():
        inside = pool.take((64,), pinned=True)
        other = inside.data_ptr()
        kept = pool.give_back(inside)
    del inside

    assert (other == first, kept) == (False, False)
    assert pool.outcome == PoolOutcome(num_kept=1, kept_bytes=256, num_made=2, num_evicted=1)


def test_an_evicted_pinned_buffer_does_not_stand_in_the_way_of_others(stub: StubDevice) -> None:
    pool = TensorPool(most_bytes=300)
    given_back(pool)
    stub.stream = Stream(is_busy=True)
    second = pool.take((64,), pinned=True), pool.take((64,), pinned=True)
    addresses = [each.data_ptr() for each in second]
    first, last = second
    del second
    pool.give_back(first)
    pool.give_back(last)
    del first, last
    stub.stream.is_busy = False

    assert pool.take((64,), pinned=True).data_ptr() == addresses[1]
    assert pool.outcome.num_evicted == 1


def test_of_every_device_in_use_the_current_stream_is_waited_for(
    stub: StubDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, streams = TensorPool(), [Stream(), Stream(is_busy=True), Stream(is_busy=True)]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: streams[device or 0])
    monkeypatch.setattr(torch._C, "_cuda_hasPrimaryContext", lambda index: index != 2, raising=False)
    first = given_back(pool)
    second = pool.take((64,), pinned=True).data_ptr()
    streams[1].is_busy = False

    assert (second == first, pool.take((64,), pinned=True).data_ptr() == first) == (False, True)
