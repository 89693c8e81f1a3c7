"""Modules on a device for a block. What needs a second device runs where there is one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import tenure
from release.models import ENCODER_BYTES, Encoder, tokens
from tenure.release.unloading.loaded import _Stay

pytestmark = pytest.mark.slow  # censuses of this whole process

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def test_a_block_on_the_device_where_the_module_is_changes_nothing() -> None:
    encoder = Encoder()
    weight, before = encoder.embedding.weight, encoder(tokens()).detach()

    with tenure.loaded(encoder, "cpu") as block:
        assert torch.equal(encoder(tokens()), before)

    assert (encoder.embedding.weight is weight, block.outcome.complete, block.outcome.freed_bytes) == (True, True, 0)


def test_training_in_a_block_where_the_module_is_already_leaves_gradients_and_is_no_cause_to_warn(
    recwarn: pytest.WarningsRecorder,
) -> None:
    encoder = Encoder()

    with tenure.loaded(encoder, "cpu") as block:
        encoder(tokens()).sum().backward()

    assert encoder.embedding.weight.grad is not None
    assert (block.outcome.complete, block.outcome.expected_bytes, [*recwarn]) == (True, 0, [])


def test_an_exception_leaves_the_block_as_it_came() -> None:
    encoder = Encoder()

    with pytest.raises(KeyError, match="mine"), tenure.loaded(encoder, "cpu"):
        raise KeyError("mine")

    with tenure.loaded(encoder, "cpu"):
        assert encoder(tokens()).shape == (4, 32)


def test_a_loaded_module_cannot_be_released_before_its_block_ends() -> None:
    encoder = Encoder()

    with tenure.loaded(encoder, "cpu"):
        with pytest.raises(tenure.ReleaseError, match="Encoder is loaded by a"):
            tenure.release(encoder)

    assert tenure.release(encoder).complete


def test_one_block_entered_twice_ends_with_its_outer_end_and_can_be_entered_again() -> None:
    encoder = Encoder()
    block = tenure.loaded(encoder, "cpu")
    with block:
        with block:
            pass
        with pytest.raises(tenure.ReleaseError, match="is loaded by"):
            tenure.release(encoder)
    with block:
        pass

    assert (block.outcome.complete, tenure.release(encoder).freed_bytes) == (True, ENCODER_BYTES)


def test_blocks_of_several_tasks_and_threads_overlap_and_the_last_one_ends_it() -> None:
    encoder, results = Encoder(), []

    async def one() -> None:
        with tenure.loaded(encoder, "cpu") as block:
            await asyncio.sleep(0)
            encoder(tokens())
            await asyncio.sleep(0)
        results.append(block.outcome is not None)

    async def three() -> None:
        await asyncio.gather(one(), one(), one())

    asyncio.run(three())
    inside = threading.Thread(target=lambda: asyncio.run(one()))
    inside.start()
    inside.join()

    assert results == [False, False, True, True]


def test_a_block_holds_no_module_after_it_has_ended() -> None:
    encoder = Encoder()
    with tenure.loaded(encoder, "cpu") as block:
        pass

    with tenure.expect_freed(encoder):
        del encoder

    assert block.outcome is not None


@pytest.mark.parametrize(
    ("make", "device", "text"),
    [
        (int, "cpu", "was given a int; pass a module"),
        (lambda: nn.Linear(2, 2), "meta", "name one that can compute"),
        (lambda: nn.Linear(2, 2), "cuda:99", "is no device of this process: it sees"),
        (lambda: nn.Linear(2, 2, device="meta"), "cpu", "has no values to load: Linear.weight and 1 more are on meta"),
    ],
)
def test_what_cannot_be_loaded_is_refused(make: Callable[[], Any], device: str, text: str) -> None:
    with pytest.raises(tenure.ReleaseError, match=text):
        tenure.loaded(make(), device).__enter__()


def test_a_released_module_cannot_be_loaded() -> None:
    encoder = Encoder()
    tenure.release(encoder)

    with pytest.raises(tenure.ReleaseError, match="was released"), tenure.loaded(encoder, "cpu"):
        pass


@needs_cuda
def test_a_module_comes_to_the_device_and_goes_back_with_what_the_block_changed() -> None:
    encoder = Encoder()
    weight = encoder.embedding.weight

    with tenure.loaded(encoder, "cuda:0") as block:
        assert {item.device.type for item in (*encoder.parameters(), *encoder.buffers())} == {"cuda"}
        encoder(tokens().cuda()).sum().backward()
        with torch.no_grad():
            weight.fill_(2.0)

    assert {item.device.type for item in (*encoder.parameters(), *encoder.buffers(), weight.grad)} == {"cpu"}
    assert (encoder.embedding.weight is weight, weight[0, 0].item(), encoder.last.device.type) == (True, 2.0, "cpu")
    assert (block.outcome.complete, block.outcome.freed_bytes >= ENCODER_BYTES) == (True, True)


@needs_cuda
def test_what_a_block_leaves_on_the_device_is_warned_of() -> None:
    encoder = Encoder()

    with pytest.warns(RuntimeWarning, match=r"drop `kept"), tenure.loaded(encoder, "cuda:0"):
        kept = list(encoder.state_dict().values())

    assert {item.device.type for item in encoder.parameters()} == {"cpu"}
    assert len(kept) == 6


@needs_cuda
def test_a_second_block_must_name_the_same_device() -> None:
    encoder = Encoder()

    with tenure.loaded(encoder, "cuda:0"):
        with pytest.raises(tenure.ReleaseError, match="is loaded on cuda:0 by another block"):
            tenure.loaded(encoder, "cpu").__enter__()


@needs_cuda
def test_memory_comes_back_from_a_cuda_device() -> None:
    encoder = Encoder(width=512).cuda()
    optimizer = torch.optim.AdamW(encoder.parameters())
    encoder(tokens().cuda()).sum().backward()
    optimizer.step()
    before = torch.cuda.memory_allocated()

    outcome = tenure.release(encoder, optimizer)

    assert outcome.complete
    assert before - torch.cuda.memory_allocated() >= outcome.freed_bytes > 0


@needs_cuda
def test_a_module_moved_to_the_host_frees_the_device() -> None:
    encoder = Encoder().cuda()
    expected = encoder(tokens().cuda()).cpu()

    outcome = tenure.release(encoder, to="cpu")

    assert outcome.complete
    assert torch.allclose(encoder(tokens()), expected, atol=1e-4)


def test_blocks_that_call_one_device_by_different_names_overlap() -> None:
    encoder = Encoder()
    with tenure.loaded(encoder, "cpu:0") as outer, tenure.loaded(encoder, "cpu") as inner:
        inside = encoder.embedding.weight.device.type

    assert (inside, inner.outcome, outer.outcome.complete) == ("cpu", None, True)


@pytest.mark.parametrize(
    ("name", "device", "home"),
    [
        ("Encoder.scale", "cuda:0", "cpu:1"),
        ("Encoder.last", "cuda:0", "cpu"),  # made in the block
        ("Encoder.last", "cuda:1", "cuda:1"),  # put elsewhere by the program itself
    ],
)
def test_what_a_block_made_goes_where_the_module_goes(name: str, device: str, home: str) -> None:
    homes = {"Encoder.embedding.weight": torch.device("cpu"), "Encoder.scale": torch.device("cpu:1")}
    stay = _Stay(torch.device("cuda:0"), 1, homes)
    tensor: Any = SimpleNamespace(device=torch.device(device))

    assert stay.home_of(name, tensor) == torch.device(home)
