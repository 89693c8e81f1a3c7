"""find_batch_size: the true limit, in few tries, each cleaned up; and the simulated limit that it is tested with."""

from __future__ import annotations

import gc
import math
from typing import Any

import pytest
import torch
from torch import nn

from tenure.capture.memory import count_tensors
from tenure.capture.tensors.storages import bytes_of
from tenure.errors import UsageError
from tenure.release.out_of_memory.batch_size import MOST, _room, _search, find_batch_size
from tenure.release.out_of_memory.budget import TensorBudget

pytestmark = pytest.mark.slow  # censuses of this whole process

KIB = 1024


def live_bytes() -> int:
    gc.collect()
    return sum(each.bytes for each in count_tensors(torch))


def sized_step(device: str, bytes_per_sample: int = KIB) -> Any:
    def step(batch_size: int) -> None:
        torch.empty(batch_size * bytes_per_sample, dtype=torch.uint8, device=device)

    return step


def test_the_search_finds_every_limit_within_its_bound_of_tries() -> None:
    for true_limit in range(3000):
        tried: list[int] = []

        def fits(size: int) -> bool:
            tried.append(size)
            return size <= true_limit

        assert _search(fits, MOST) == (true_limit, True)
        assert len(tried) <= 2 * math.ceil(math.log2(true_limit + 1)) + 1


@pytest.mark.parametrize("true_limit", [0, 1, 21])
def test_the_true_limit_is_found_in_few_tries(true_limit: int) -> None:
    room = live_bytes() + true_limit * KIB + KIB // 2

    found = find_batch_size(sized_step("cpu"), limit=room, margin=0)

    assert (found.batch_size, found.is_limit, found.leaks) == (true_limit, True, ())
    assert len(found.tries) <= 2 * math.ceil(math.log2(true_limit + 1)) + 1
    assert [each.fits for each in found.tries] == [each.size <= true_limit for each in found.tries]


def test_the_budget_raises_torchs_own_error_at_the_limit_and_counts_what_lives(device: str) -> None:
    before = torch.empty(3 * KIB, dtype=torch.uint8, device=device)
    room = live_bytes() + 10 * KIB
    with TensorBudget(room) as budget:
        start = budget.live_bytes
        first = torch.empty(6 * KIB, dtype=torch.uint8, device=device)
        view = first[:KIB]
        assert budget.live_bytes - start == 6 * KIB
        del first, view
        assert budget.live_bytes == start
        big = torch.empty(9 * KIB, dtype=torch.uint8, device=device)
        with pytest.raises(torch.OutOfMemoryError, match=r"simulated: aten\.empty.* tried to allocate 2\.00 KiB"):
            torch.empty(2 * KIB, dtype=torch.uint8, device=device)
        assert budget.live_bytes - start == 9 * KIB

    assert budget.peak_bytes - start == 11 * KIB
    assert (before.numel(), big.numel()) == (3 * KIB, 9 * KIB)


def test_what_backward_saves_and_frees_is_counted(device: str) -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64)).to(device)
    batch = torch.ones(32, 64, device=device)
    with TensorBudget() as budget:
        start = budget.live_bytes
        loss = model(batch).sum()
        in_forward = budget.live_bytes - start
        loss.backward()
        del loss
        left = budget.live_bytes - start

    gradients = sum(bytes_of(parameter) or 0 for parameter in model.parameters())
    assert in_forward >= 32 * 64 * 4
    assert left == gradients


@pytest.mark.slow
def test_a_margin_leaves_a_share_free() -> None:
    start = live_bytes()
    room = start + 24 * KIB

    whole = find_batch_size(sized_step("cpu"), limit=room, margin=0)
    less = find_batch_size(sized_step("cpu"), limit=room, margin=0.1)

    assert whole.batch_size == 24
    assert less.batch_size == (int(room * 0.9) - start) // KIB


@pytest.mark.slow
def test_a_real_step_of_training_is_tried_and_leaves_nothing(device: str) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).to(device)
    optimizer = torch.optim.Adam(model.parameters())

    def step(batch_size: int) -> None:
        loss = model(torch.randn(batch_size, 64, device=device)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    found = find_batch_size(step, limit=live_bytes() + (512 << 10), margin=0)
    with TensorBudget(found.limit_bytes):
        step(found.batch_size)
        with pytest.raises(torch.OutOfMemoryError):
            step(found.batch_size + 1)

    assert found.batch_size > 30
    assert found.tries[0].left_bytes > 0
    assert found.leaks == ()


def test_a_try_that_leaves_memory_behind_is_told() -> None:
    history = []

    def step(batch_size: int) -> None:
        history.append(torch.empty(batch_size * KIB, dtype=torch.uint8))

    found = find_batch_size(step, limit=live_bytes() + 16 * KIB, margin=0)

    assert [(each.size, each.left_bytes) for each in found.leaks][:2] == [(2, 2 * KIB), (4, 4 * KIB)]
    assert "the try of 2 left 2.00 KiB behind" in str(found)
    assert found.after_bytes - found.before_bytes == sum(each.left_bytes for each in found.tries)
    assert [(each.device, each.expected_bytes) for each in found.devices] == [("cpu", None)]
    assert [(each.bytes, "history" in each.path[0] or "history" in each.path[1]) for each in found.survivors] == [
        (2 * KIB, True)
    ]


def test_what_an_exception_would_keep_is_freed_before_the_next_try() -> None:
    start = live_bytes()

    def step(batch_size: int) -> None:
        kept = torch.empty(batch_size * KIB, dtype=torch.uint8)
        torch.empty_like(kept)

    found = find_batch_size(step, limit=start + 21 * KIB, margin=0)

    assert found.batch_size == 10
    assert live_bytes() == start


def test_a_budget_of_tokens_is_decided_by_the_worst_length() -> None:
    start = live_bytes()
    calls = []

    def step(batch_size: int, length: int) -> None:
        calls.append((batch_size, length))
        torch.empty(batch_size * length * length, dtype=torch.uint8)

    found = find_batch_size(step, limit=start + 70_000, margin=0, lengths=[10, 100, 40, 10])

    assert (found.batch_size, found.unit) == (700, "tokens")
    assert found.batch_sizes == ((100, 7), (40, 17), (10, 70))
    assert {length for _, length in calls} == {100, 40, 10}


def test_the_search_ends_at_the_most_that_is_asked_for() -> None:
    found = find_batch_size(lambda size: None, limit="1TiB", most=100)

    assert (found.batch_size, found.is_limit) == (100, False)
    assert "larger ones were not tried" in str(found)


def test_another_error_passes_and_what_the_try_held_is_freed() -> None:
    start = live_bytes()

    def step(batch_size: int) -> None:
        kept = torch.empty(batch_size * KIB, dtype=torch.uint8)
        raise ValueError(f"no such batch: {kept.numel()}")

    with pytest.raises(ValueError, match="no such batch") as caught:
        find_batch_size(step, limit="1GiB")

    assert caught.value.__traceback__ is not None
    assert live_bytes() == start


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"step": 3}, "calls step.batch_size.; a int was given"),
        ({"limit": "much"}, "'much' is no size; write it as in '2GiB'"),
        ({"margin": 1.0}, "from 0 to below 1; 1.0 was given"),
        ({"most": 0}, "a whole number from 1 on; 0 was given"),
        ({"margin": "half"}, "from 0 to below 1; 'half' was given"),
        ({"most": 2.5}, "a whole number from 1 on; 2.5 was given"),
        ({"lengths": [4, 0]}, r"whole ones from 1 on; \[4, 0\] was given"),
        ({"lengths": [1.5]}, r"whole ones from 1 on; \[1.5\] was given"),
        ({"lengths": 5}, "whole ones from 1 on; 5 was given"),
    ],
)
def test_a_mistake_in_the_request_is_told_before_anything_runs(changed: dict[str, Any], said: str) -> None:
    arguments = {"step": sized_step("cpu"), "limit": "1GiB", **changed}

    with pytest.raises(UsageError, match=said):
        find_batch_size(arguments.pop("step"), **arguments)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device to try on")
def test_without_a_device_and_a_limit_the_answer_says_what_to_give() -> None:
    with pytest.raises(UsageError, match='limit="2GiB"'):
        find_batch_size(sized_step("cpu"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_on_a_device_the_allocator_decides() -> None:
    free, _ = torch.cuda.mem_get_info()
    step = sized_step("cuda", bytes_per_sample=free // 100)

    found = find_batch_size(step, margin=0.05)

    assert 85 <= found.batch_size <= 95
    assert found.leaks == ()


@pytest.mark.parametrize(
    ("fraction", "margin", "room"),
    [(1.0, 0.0, 60), (0.25, 0.0, 25), (0.25, 0.2, 20), (None, 0.0, 60)],
)
def test_room_is_what_is_free_and_this_process_may_take(
    fraction: float | None, margin: float, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (40, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 20)
    if fraction is None:
        monkeypatch.delattr(torch.cuda, "get_per_process_memory_fraction", raising=False)
    else:
        monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda: fraction, raising=False)

    assert _room(None, margin) == room
