"""A device's memory that really runs out: the failed step is freed, what was asked for is done, and it is recorded."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import tenure
from gpu.release.devices import DEVICE, MIB
from gpu.release.own_process import said_by
from tenure.diagnose import diagnose
from tenure.release.out_of_memory.failed_step import is_out_of_memory

pytestmark = pytest.mark.slow  # processes of their own


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    return said_by("out_of_memory.py")


def test_a_step_that_ran_out_is_tried_again_with_half_the_batch(said: dict[str, Any]) -> None:
    assert said["retry"] == {
        "result": [8, float(8 * MIB)],
        "left": 0,
        "did": "tried again: batch 16 -> 8",
        "num_ooms": 1,
    }


def test_an_error_that_goes_on_and_is_kept_holds_nothing_of_the_failed_step(said: dict[str, Any]) -> None:
    answer = said["raise"]

    assert (answer["left"], answer["errors"], answer["complete"]) == (0, 1, True)
    assert answer["what"] == "memory ran out (OutOfMemoryError)"
    assert answer["note"].startswith("CUDA out of memory. Tried to allocate 16.00 MiB")
    assert answer["row"] == [0, 16 * MIB, 16 * MIB, answer["reserved"]]
    assert answer["next"] > 0


def test_what_somebody_else_keeps_of_the_failed_step_is_told(said: dict[str, Any]) -> None:
    answer = said["kept"]
    ((what, device, num_bytes, path),) = answer["survivors"]

    assert (answer["result"], answer["left"], answer["kept"]) == (None, 16 * MIB, 1)
    assert (what, device, num_bytes) == ("`hidden` in failing_step", DEVICE, 16 * MIB)
    assert "kept" in path


def test_a_backward_that_ran_out_in_the_devices_own_thread_is_freed_too(said: dict[str, Any]) -> None:
    assert said["backward"] == {"left": [0, 0, 0], "happened": True, "did": "bound to None: `loss`", "loss": True}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("out-of-memory") / "last"
    return folder, said_by("last_recording.py", str(folder))


def test_a_failed_step_is_skipped_and_leaves_nothing_and_what_was_written_is_told(
    recorded: tuple[Path, dict[str, Any]],
) -> None:
    folder, said = recorded
    told = said["did"]

    assert said["steps"] == [[False, 0], [True, 0], [False, 0]]
    assert said["note"].startswith("CUDA out of memory. Tried to allocate 16.00 MiB")
    assert told[0] == f"wrote a census: tenure diagnose {folder}"
    assert told[1].startswith(f"wrote {folder / 'out-of-memory.json'}: most is held by the failed step")
    assert told[2] == f"wrote the allocator's snapshot: {folder / 'allocator.pickle'}"
    assert told[3].startswith("emptied the variables of ")


def test_the_last_recording_says_who_held_the_devices_memory(recorded: tuple[Path, dict[str, Any]]) -> None:
    folder, said = recorded
    answer = json.loads((folder / "out-of-memory.json").read_text())
    (history,) = (each for each in answer["holders"] if "history" in "".join(each["path"]))

    assert answer["error"].startswith("OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 MiB")
    assert (history["bytes"], history["num_storages"], history["device"]) == (128 * MIB, 4, DEVICE)
    assert "history" in history["cut"][0]
    assert said["allowed"] - 32 * MIB <= answer["devices"][DEVICE]["reserved_bytes"] <= said["allowed"]
    assert answer["devices"][DEVICE]["bytes"] <= answer["devices"][DEVICE]["reserved_bytes"]
    assert sum(each["bytes"] for each in answer["holders"]) <= answer["devices"][DEVICE]["bytes"]


def test_the_last_recording_can_be_read_by_every_reader(recorded: tuple[Path, dict[str, Any]]) -> None:
    folder, said = recorded
    with (folder / "allocator.pickle").open("rb") as file:
        segments = pickle.load(file)["segments"]
    reserved = sum(each["total_size"] for each in segments)
    command = [sys.executable, "-m", "tenure", "snapshot", str(folder / "allocator.pickle")]
    read = subprocess.run(command, capture_output=True, text=True, check=False)

    assert said["allowed"] - 32 * MIB <= reserved <= said["allowed"]
    assert read.returncode in (0, 1), read.stderr
    assert diagnose(str(folder)).recording == str(folder)


def test_torchs_own_error_is_known_and_an_error_of_another_kind_is_not() -> None:
    total = torch.cuda.mem_get_info()[1]
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.empty(4 * total, dtype=torch.uint8, device="cuda")
    with pytest.raises(RuntimeError) as other:
        torch.ones(2, device="cuda") + torch.ones(3, device="cuda")

    assert (is_out_of_memory(caught.value), is_out_of_memory(other.value)) == (True, False)


@pytest.mark.parametrize("then", ["skip", "retry"])
def test_an_allocation_larger_than_the_device_is_handled_in_a_step_of_this_process(then: Any) -> None:
    total, before = torch.cuda.mem_get_info()[1], torch.cuda.memory_allocated()

    @tenure.oom_guard(then=then, record=False)
    def step(batch: torch.Tensor) -> int:
        mine = batch.repeat(2)
        if len(batch) > 4:
            torch.empty(4 * total, dtype=torch.uint8, device="cuda")
        return len(mine)

    result = step(torch.ones(16, device="cuda"))
    guard = step.guard  # type: ignore[attr-defined]

    assert result == (None if then == "skip" else 8)
    assert (guard.happened, guard.outcome.survivors) == (True, ())
    assert torch.cuda.memory_allocated() == before
