"""find_batch_size on a device, by the allocator's own error and by a limit that is counted."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import tenure
from gpu.release.devices import MIB, taken
from gpu.release.own_process import said_by

pytestmark = pytest.mark.slow  # processes of their own, censuses of this whole process


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return said_by("batch_sizes.py")


def test_the_largest_batch_is_the_one_before_torch_runs_out_of_memory(found: dict[str, Any]) -> None:
    said = found["take"]
    fitting = [each for each in said["tries"] if each[1]]
    failing = [each for each in said["tries"] if not each[1]]

    assert (said["batch_size"], said["is_limit"]) == (37, True)  # of 8 MiB each in 300 MiB
    assert [each[2] for each in fitting] == [max(each[0] * 8, 20 if each[0] == 1 else 0) * MIB for each in fitting]
    assert [each[1] for each in said["tries"]] == [each[0] <= 37 for each in said["tries"]]
    assert {each[4].partition(". Tried")[0] for each in failing} == {"CUDA out of memory"}
    assert said["num_ooms"] == len(failing) >= 1
    assert {each[3] for each in said["tries"]} == {0}


def test_every_try_is_cleaned_up_and_the_memory_is_the_drivers_again(found: dict[str, Any]) -> None:
    assert (found["take"]["torch"], found["take"]["leaks"], found["take"]["survivors"]) == ([0, 0], [], [])


def test_the_room_it_tells_is_no_more_than_this_process_may_take(found: dict[str, Any]) -> None:
    allowed = found["allowed"]

    assert allowed - MIB <= found["take"]["limit_bytes"] <= allowed + MIB
    assert found["by_default"]["limit_bytes"] == pytest.approx(0.95 * allowed, abs=MIB)


def test_the_margin_that_is_left_by_default_is_one_of_what_this_process_may_take(found: dict[str, Any]) -> None:
    said = found["by_default"]

    assert (said["batch_size"], said["is_limit"]) == (35, True)  # of 8 MiB each in 285 MiB
    assert [each[1] for each in said["tries"]] == [each[0] <= 35 for each in said["tries"]]


def test_a_step_that_trains_fits_again_afterwards_and_leaves_nothing_but_what_it_makes_once(
    found: dict[str, Any],
) -> None:
    said = found["train"]
    weights = (1024 * 4096 + 4096 + 4096 * 8 + 8) * 4

    assert said["again"] == [True, False]
    assert said["batch_size"] > 100
    assert said["tries"][0][3] >= 2 * weights
    assert (said["leaks"], said["survivors"]) == ([], [])


def live_bytes() -> int:
    return sum(each.bytes for each in tenure.memory().tensors)


def test_a_counted_limit_holds_on_the_device_too() -> None:
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()

    found = tenure.find_batch_size(lambda size: taken(10 * size), limit=live_bytes() + 300 * MIB, margin=0)

    assert (found.batch_size, found.is_limit, found.leaks) == (30, True, ())
    assert [each.fits for each in found.tries] == [each.size <= 30 for each in found.tries]
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() - before <= 320 * MIB


def test_a_counted_limit_counts_what_backward_makes_on_the_devices_own_thread() -> None:
    weight = torch.ones(4 * MIB, device="cuda", requires_grad=True)  # 16 MiB

    def step(size: int) -> None:
        outputs = [weight * number for number in range(size)]
        sum(output.exp() for output in outputs).sum().backward()  # type: ignore[union-attr]
        weight.grad = None

    found = tenure.find_batch_size(step, limit=live_bytes() + 256 * MIB, margin=0, most=64)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step(found.batch_size)
    peak = torch.cuda.max_memory_allocated() - before
    (tried,) = {each.peak_bytes for each in found.tries if each.size == found.batch_size}

    assert (found.is_limit, found.batch_size > 1, found.leaks) == (True, True, ())
    assert tried is not None
    assert peak <= 256 * MIB


def test_a_try_that_leaves_memory_on_the_device_is_told_with_its_holder() -> None:
    history: list[torch.Tensor] = []

    found = tenure.find_batch_size(
        lambda size: history.append(taken(10 * size)), limit=live_bytes() + 160 * MIB, margin=0
    )

    assert [(each.size, each.left_bytes) for each in found.leaks][:2] == [(2, 20 * MIB), (4, 40 * MIB)]
    assert [(each.device, each.bytes) for each in found.survivors] == [("cuda:0", 20 * MIB)]
    assert "history" in "".join(found.survivors[0].path)
    assert len(history) >= 3
