"""What the doctor says of programs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tenure.cli.doctor_programs import check_programs, read_programs
from tenure.errors import UsageError

GIB = 1 << 30
PROGRAM = """\
import torch
model = torch.nn.DataParallel(model)
loader = DataLoader(data, num_workers=4, pin_memory=True)
batch = batch.to("cuda", non_blocking=True)
"""


def test_calls_of_a_program_are_judged_by_what_the_machine_has() -> None:
    program = {"train.py": ast.parse(PROGRAM)}
    here = check_programs(program, num_devices=None, shared_memory_bytes=64 << 20)
    there = check_programs(program, num_devices=2, shared_memory_bytes=8 * GIB)

    assert [each.split(": ")[0] for each in here] == ["train.py:2", "train.py:3", "train.py:3"]
    assert "pin_memory=True does nothing without a CUDA device" in here[1]
    assert "/dev/shm, which has 64.00 MiB here" in here[2]
    assert [each.split(": ")[0] for each in there] == ["train.py:2"]


def test_copies_that_do_not_wait_need_pinned_memory() -> None:
    unpinned = ast.parse('DataLoader(data, num_workers=0)\nbatch.to("cuda", non_blocking=True)')
    found = check_programs({"train.py": unpinned}, num_devices=1, shared_memory_bytes=1)

    assert [each[:42] for each in found] == ["train.py:2: non_blocking=True waits all th"]
    (elsewhere,) = check_programs({"train.py": unpinned}, num_devices=None, shared_memory_bytes=1)
    assert "waits all the same for a copy to a CUDA device of memory that is not pinned" in elsewhere


@pytest.mark.parametrize("pin", ["DataLoader(data, pin_memory=arguments.pin)", "batch = batch.pin_memory()"])
def test_what_may_be_pinned_is_not_doubted(pin: str) -> None:
    program = ast.parse(f'{pin}\nbatch.to("cuda", non_blocking=True)')
    assert check_programs({"train.py": program}, num_devices=1, shared_memory_bytes=None) == []


@pytest.mark.parametrize(
    "program",
    ["from torch.nn import DataParallel as DP\nDP(model)", "\ntorch.nn.parallel.data_parallel(model, batch, [0, 1])"],
)
def test_data_parallel_is_known_by_its_other_names(program: str) -> None:
    (said,) = check_programs({"train.py": ast.parse(program)}, num_devices=2, shared_memory_bytes=None)
    assert said.startswith("train.py:2: DataParallel copies the model to every device in each step")


def test_a_program_that_cannot_be_read_is_said_in_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("x = (\n")

    with pytest.raises(UsageError, match=r"cannot read .*missing.py: No such file"):
        read_programs([tmp_path / "missing.py"])
    with pytest.raises(UsageError, match=r"cannot parse .*broken.py: line 1"):
        read_programs([broken])
