"""When memory runs out: what is recorded, what is freed, and what happens then."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from release.two_ranks import printed_by_two_ranks
from tenure.diagnose import diagnose
from tenure.errors import UsageError
from tenure.release.out_of_memory.batch_size import find_batch_size
from tenure.release.out_of_memory.budget import TensorBudget
from tenure.release.out_of_memory.failed_step import is_out_of_memory
from tenure.release.out_of_memory.last_recording import FILE, Saving, savings_of
from tenure.release.out_of_memory.oom import oom_guard
from tenure.release.out_of_memory.ranks import Agreement
from tenure.release.out_of_memory.smaller_batch import halve_batch

pytestmark = pytest.mark.slow  # censuses of this whole process

KIB = 1024


def room(more: int) -> TensorBudget:
    gc.collect()
    with TensorBudget() as now:
        pass
    return TensorBudget(now.peak_bytes + more)


def make_model(device: str) -> nn.Module:
    return nn.Sequential(*(nn.Linear(256, 256) for _ in range(8))).to(device)


def test_a_failed_block_is_freed_and_skipped_when_asked_for(device: str) -> None:
    model, batch = make_model(device), torch.ones(256, 256, device=device)
    after = []
    with room(1500 * KIB) as budget:
        before = budget.live_bytes
        for _ in range(3):
            with oom_guard(then="skip", record=False) as guard:
                hidden = [model[0](batch)]
                loss = model(hidden[0]).sum()
                loss.backward()
            after.append(budget.live_bytes - before)

    assert guard.happened
    assert (after, hidden) == ([0, 0, 0], None)
    assert guard.outcome.survivors == ()
    assert guard.outcome.did[-1] == "bound to None: `hidden`"
    assert guard.outcome.expected_bytes > 0
    assert guard.outcome.complete


def test_an_error_that_goes_on_keeps_its_lines_and_no_tensors(device: str) -> None:
    model, batch = make_model(device), torch.ones(256, 256, device=device)
    guard = oom_guard(record=False)
    with room(900 * KIB) as budget:
        before = budget.live_bytes
        with pytest.raises(torch.OutOfMemoryError) as caught:
            run_block(guard, model, batch)
        assert budget.live_bytes - before == 0

    lines = [entry.name for entry in caught.traceback]
    assert "run_block" in lines
    assert guard.outcome.survivors == ()


def run_block(guard: Any, model: nn.Module, batch: torch.Tensor) -> None:
    with guard:
        model(batch).sum().backward()


def test_what_someone_else_holds_of_the_failed_step_is_told_with_its_path() -> None:
    model, batch = make_model("cpu"), torch.ones(256, 256)
    kept = []

    def step() -> None:
        out = model[0](batch)
        kept.append(out)
        model(out)

    guarded = oom_guard(then="skip", record=False)(step)
    with room(900 * KIB):
        assert guarded() is None

    (survivor,) = guarded.guard.outcome.survivors
    assert survivor.what == "`out` in step"
    assert "kept" in "".join(survivor.path)
    assert not guarded.guard.outcome.complete


def test_a_step_is_tried_again_with_half_the_batch_until_it_fits(device: str) -> None:
    model = make_model(device)
    sizes = []

    @oom_guard(then="retry", record=False)
    def step(batch: torch.Tensor, *, scale: torch.Tensor) -> tuple[int, int]:
        sizes.append(len(batch))
        (model(batch) * scale).sum()
        return len(batch), len(scale)

    with room(2500 * KIB):
        result = step(torch.ones(256, 256, device=device), scale=torch.ones(1, 256, device=device))

    assert sizes == [256, 128]
    assert result == (128, 1)
    assert step.guard.outcome.did[-1] == "tried again: batch 256 -> 128"


def test_where_nothing_smaller_is_left_the_error_goes_on() -> None:
    sizes = []

    @oom_guard(then="retry", record=False)
    def step(batch: torch.Tensor) -> None:
        sizes.append(len(batch))
        torch.empty(100 * KIB, dtype=torch.uint8)

    with room(50 * KIB), pytest.raises(torch.OutOfMemoryError):
        step(torch.ones(4))

    assert sizes == [4, 2, 1]


def test_other_errors_and_steps_that_fit_pass_through() -> None:
    guard = oom_guard(then="skip", record=False)
    with pytest.raises(ValueError, match="mine"), guard:
        raise ValueError("mine")
    with guard:
        pass

    assert (guard.happened, guard.outcome.what, guard.outcome.devices) == (False, "memory has not run out", ())


def test_the_last_recording_tells_who_held_what_and_can_be_diagnosed(tmp_path: Path) -> None:
    folder = tmp_path / "last"
    history = [torch.ones(512, 256) for _ in range(3)]
    guard = oom_guard(then="skip", record=folder)
    with room(10 * KIB):
        for _ in range(2):
            with guard:
                torch.ones(100 * KIB)

    answer = json.loads((folder / FILE).read_text())
    assert answer["format"] == 1
    assert "OutOfMemoryError: simulated" in answer["error"]
    most = answer["holders"][0]
    assert (most["bytes"], most["num_storages"]) == (3 * 512 * 256 * 4, 3)
    assert "history" in "".join(most["path"])
    assert "history" in most["cut"][0]
    assert diagnose(str(folder)).recording == str(folder)
    assert len(history) == 3


def test_what_the_failed_step_itself_held_is_told_as_such_in_the_last_recording(tmp_path: Path) -> None:
    def step() -> None:
        mine = torch.ones(512, 256)
        raise torch.OutOfMemoryError(f"simulated, with {mine.nbytes} bytes of its own")

    with oom_guard(then="skip", record=tmp_path / "last"):
        step()

    holders = json.loads((tmp_path / "last" / FILE).read_text())["holders"]
    (own,) = [each for each in holders if each["path"][0].startswith("the failed step, by the error's own traceback")]
    assert (own["bytes"], own["cut"]) == (512 * 256 * 4, [])
    assert "local variable `mine` in" in "".join(own["path"])


def test_savings_of_settings_are_bounds_from_the_counters() -> None:
    counters = {"inactive_split_bytes": 300, "allocated_bytes": 1000, "requested_bytes": 900}

    found = savings_of("cuda:0", counters)

    assert [(each.setting, each.at_most_bytes) for each in found] == [
        ("expandable_segments:True", 300),
        ("roundup_power2_divisions left unset", 100),
    ]
    assert savings_of("cuda:0", {**counters, "inactive_split_bytes": 0, "requested_bytes": 1000}) == []
    assert isinstance(found[0], Saving)


def test_out_of_memory_is_told_from_other_errors() -> None:
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert is_out_of_memory(RuntimeError("CUDA error: out of memory"))
    assert is_out_of_memory(RuntimeError("cuBLAS error: CUBLAS_STATUS_ALLOC_FAILED"))
    assert is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate"))
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("cuFFT error: CUFFT_ALLOC_FAILED"))
    assert is_out_of_memory(
        RuntimeError("cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate`")
    )
    assert is_out_of_memory(
        RuntimeError("CUDA error: insufficient resources when calling `cusparseSpGEMM_compute(...)`")
    )
    assert is_out_of_memory(RuntimeError("cuSPARSE error: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"))
    assert not is_out_of_memory(RuntimeError("cuFFT error: CUFFT_INVALID_SIZE"))
    assert not is_out_of_memory(RuntimeError("shapes do not match"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_half_a_batch_is_the_first_half_of_all_tensors_of_its_length() -> None:
    batch = {"x": torch.arange(6), "y": [torch.arange(6), "text"], "weights": torch.ones(3)}

    smaller = halve_batch(batch, 2)

    assert smaller is not None
    (halved, number), named = smaller
    assert (halved["x"].tolist(), halved["y"][0].tolist(), halved["y"][1]) == ([0, 1, 2], [0, 1, 2], "text")
    assert (len(halved["weights"]), number, named) == (3, 2, {})
    assert halve_batch(torch.ones(1, 5)) is None
    assert halve_batch(3, "a") is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: oom_guard(then="stop"), 'then is "raise", "skip" or "retry"'),  # type: ignore[arg-type]
        (lambda: oom_guard(smaller=3), "smaller is a function that gives back"),  # type: ignore[arg-type]
        (lambda: oom_guard(record=3), "record is a folder, True or False; 3 was given"),  # type: ignore[arg-type]
        (lambda: oom_guard(keep="loss"), r"oom_guard\(keep=...\) takes names"),
        (lambda: oom_guard(then="retry", record=False).__enter__(), "cannot be run again"),
        (lambda: oom_guard(record=False)(3), "decorates a plain function; 3 was given"),
        (lambda: oom_guard(record=Path(__file__)), "is a file, and nothing is overwritten"),
    ],
)
def test_mistakes_in_the_request_are_told_at_once(make: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make()


def test_a_size_that_find_batch_size_found_does_not_need_the_guard() -> None:
    guard = oom_guard(then="skip", record=False)

    def step(batch_size: int) -> None:
        with guard:
            torch.empty(batch_size * KIB, dtype=torch.uint8)
        assert not guard.happened

    found = find_batch_size(lambda size: torch.empty(size * KIB, dtype=torch.uint8), limit="64KiB", most=8)
    step(found.batch_size)


RANK = """
import sys, torch, torch.distributed as distributed
from tenure.release.out_of_memory.oom import oom_guard
rank, port = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
def work(step, size):
    if rank == 1 and step == 1 and size > 2:
        raise torch.OutOfMemoryError("too much")
lines = []
guard = oom_guard(then="skip", record=False)
for step in range(3):
    with guard:
        work(step, 4)
        guard.agree()
        distributed.all_reduce(torch.ones(1))
    lines.append("skipped" if guard.happened else "done")
for step in range(3):
    with guard:
        work(step, 4)
    lines.append("skipped" if guard.happened else "done")
@oom_guard(then="retry", record=False)
def train(step, batch):
    work(step, len(batch))
    return len(batch)
for step in range(3):
    lines.append(str(train(step, torch.ones(4))))
print(" ".join(lines))
distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_ranks_skip_and_retry_together_and_nobody_waits_for_ever() -> None:
    expected = "done skipped done done skipped done 4 2 4"
    assert printed_by_two_ranks(RANK) == [[expected], [expected]]


def test_ranks_agree_whatever_device_tensors_are_made_on_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda *args, **named: None)
    agreement = Agreement()
    agreement.num_ranks = 2
    with torch.device("meta"):
        assert (agreement.any_rank(True), agreement.any_rank(False)) == (True, False)
