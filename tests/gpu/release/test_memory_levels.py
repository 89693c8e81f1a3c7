"""`tenure.memory()` on a device: every level agrees with torch's own figures, and nothing waits or is started."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import tenure
from gpu.release.devices import DEVICE, MIB, counted, does_not_wait, no_synchronisation, row_of, taken
from gpu.release.own_process import said_by
from tenure.model.units import format_bytes


@pytest.fixture(scope="module")
def levels() -> dict[str, Any]:
    return said_by("levels.py")


def test_tensors_allocator_and_torch_say_the_same(levels: dict[str, Any]) -> None:
    name, allocated, reserved = levels["torch"]
    device = levels["device"]

    assert levels["tensors"] == [{"device": "cuda:0", "bytes": 32 * MIB + 4096, "num_storages": 2, "num_tensors": 4}]
    assert (allocated, reserved) == (32 * MIB + 4096, 98 * MIB)
    assert (device["device"], device["name"]) == ("cuda:0", name)
    assert (device["allocated_bytes"], device["reserved_bytes"], levels["cache"]) == (
        allocated,
        reserved,
        reserved - allocated,
    )
    assert "allocator  cuda:0: 32.00 MiB allocated of 98.00 MiB reserved, 66.00 MiB cache" in levels["lines"]


def test_the_driver_and_the_levels_below_it_add_up(levels: dict[str, Any]) -> None:
    device, reserved = levels["device"], levels["torch"][2]
    used, total, process = (device[f"{name}_bytes"] for name in ("used", "total", "process"))
    own = reserved if process is None else process

    assert reserved <= used <= total
    assert levels["others"] == max(used - own, 0)
    assert levels["context"] == (None if process is None else process - reserved)
    assert process is None or reserved < process <= total
    assert [line for line in levels["lines"] if line.startswith("together   cuda:0: ")] != []


def test_what_waits_for_the_device_is_found_out_by_these_tests() -> None:
    number = torch.ones((), device="cuda")

    with no_synchronisation(), pytest.raises(RuntimeError, match="synchroniz"):
        number.item()
    assert not does_not_wait(torch.cuda.synchronize)


def test_reading_memory_waits_for_nothing() -> None:
    kept = taken(16)

    assert does_not_wait(tenure.memory)
    assert len(kept) == 16 * MIB


def test_what_only_cpp_holds_is_a_term_of_its_own() -> None:
    wide = torch.ones(256, 256, device="cuda")
    before = torch.cuda.memory_allocated()
    product = wide @ wide
    workspace = torch.cuda.memory_allocated() - before - product.nbytes
    report = tenure.memory()
    (device,) = report.devices
    (seen,) = (each.bytes for each in report.tensors if each.device == DEVICE)
    (line,) = (each for each in str(report).splitlines() if each.startswith(f"together   {DEVICE}: "))

    assert workspace > 0
    assert device.allocated_bytes - seen == workspace
    assert f"= tensors {format_bytes(seen)} + only C++ {format_bytes(workspace)} + cache " in line


def test_while_a_graph_is_captured_nothing_fails_and_the_driver_is_left_in_peace() -> None:
    number, graph, policy = torch.zeros((), device="cuda"), torch.cuda.CUDAGraph(), tenure.TrimPolicy(pressure=0)
    number += 1  # loads the kernel
    with torch.cuda.graph(graph):
        number += 1
        report, caches = tenure.memory(), tenure.caches()
        step, outcome = policy.step(), tenure.clear_caches("allocator", "cublas")
    number.zero_()
    graph.replay()

    assert (float(number), step.trimmed, outcome.did) == (1.0, False, ())
    assert (len(report.devices), "allocator" in {each.name for each in caches}) == (1, True)


def test_what_comes_and_goes_is_in_the_next_reading() -> None:
    readings = [tenure.memory()]
    kept = taken(32)
    readings.append(tenure.memory())
    del kept
    readings.append(tenure.memory())
    before, during, after = (reading.devices[0] for reading in readings)
    tensors = [sum(each.bytes for each in reading.tensors if each.device == "cuda:0") for reading in readings]

    assert [during.allocated_bytes - before.allocated_bytes, after.allocated_bytes - before.allocated_bytes] == [
        32 * MIB,
        0,
    ]
    assert [tensors[1] - tensors[0], tensors[2] - tensors[0]] == [32 * MIB, 0]
    assert after.cache_bytes - before.cache_bytes == 32 * MIB
    assert (after.allocated_bytes, after.reserved_bytes) == counted()


def test_sparse_half_precision_and_shared_memory_is_counted_once() -> None:
    before = torch.cuda.memory_allocated()
    seen = sum(each.bytes for each in tenure.memory().tensors if each.device == "cuda:0")
    kept = [torch.zeros(1024, 1024, dtype=torch.bfloat16, device="cuda"), torch.eye(64, device="cuda").to_sparse()]
    kept.append(kept[0].t()[5:])
    after = torch.cuda.memory_allocated()

    assert sum(each.bytes for each in tenure.memory().tensors if each.device == "cuda:0") - seen == after - before
    assert after - before > 2 * MIB


def test_helpers_start_no_device_in_a_process_that_has_not() -> None:
    assert said_by("untouched.py") == {
        "devices": 0,
        "caches": [],
        "kept": [f"{name}: not in use in this process" for name in ("cufft", "cublas", "pinned", "allocator")],
        "trim": [False, "this allocator tells nothing of what it keeps"],
        "released": ["cpu"],
        "is_initialized": False,
    }


def test_a_program_can_fork_and_use_the_device_in_its_children_after_any_of_these_calls() -> None:
    said = said_by("forks.py")

    assert said == dict.fromkeys(said, 0)
    assert len(said) == 13


@pytest.fixture(scope="module")
def first_things() -> dict[str, Any]:
    return said_by("first_things.py")


def test_a_pool_that_pins_before_the_device_is_started_knows_its_pinned_buffer_again(
    first_things: dict[str, Any],
) -> None:
    assert first_things["pinned"] == [True, True, True, False]


def test_a_policy_made_before_the_device_is_started_names_the_device_as_all_others_do(
    first_things: dict[str, Any],
) -> None:
    (before, after) = first_things["trim"]["torch"]
    (row,) = first_things["trim"]["devices"]

    assert row["device"] == "cuda:0"
    assert (row["before_bytes"], row["after_bytes"]) == (before[0], after[0])
    assert (row["reserved_before_bytes"], row["reserved_after_bytes"]) == (before[1], after[1])
    assert before[1] - after[1] == 64 * MIB


@pytest.mark.parametrize("helper", ["release", "expect_freed"])
def test_where_the_last_tensor_of_the_device_goes_the_figures_are_torchs_too(
    helper: str, first_things: dict[str, Any]
) -> None:
    (before, after) = first_things[helper]["torch"]
    (row,) = first_things[helper]["devices"]

    assert (row["before_bytes"], row["reserved_before_bytes"]) == tuple(before)
    assert (row["after_bytes"], row["reserved_after_bytes"]) == tuple(after)
    assert (row["expected_bytes"], row["freed_bytes"]) == (32 * MIB, 32 * MIB)


def test_garbage_collected_at_a_step_gives_back_what_torch_says() -> None:
    with tenure.collect_at_steps() as collector:
        ring = {"tensor": taken(32)}
        ring["itself"] = ring  # type: ignore[assignment]
        del ring
        before = torch.cuda.memory_allocated()
        outcome = collector.step()
        after = torch.cuda.memory_allocated()
    row = row_of(outcome)

    assert (outcome.ran, before - after) == (True, 32 * MIB)
    assert (row.before_bytes, row.after_bytes) == (before, after)
    assert row.reserved_after_bytes == torch.cuda.memory_reserved()
