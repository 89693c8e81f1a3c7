"""What the doctor says of settings, devices, programs and known leaks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tenure.cli.doctor_checks import (
    check_everything,
    check_programs,
    check_settings,
    check_visible_devices,
    describe_known_leaks,
    parse_settings,
    read_programs,
)
from tenure.errors import UsageError
from tenure.rules.known_leaks import KnownLeak

GIB = 1 << 30
LEAK = KnownLeak(
    "id", "plans pile up", ("https://github.com/pytorch/pytorch/issues/94893",), "2.0", "2.12", (), ("cuda",), "",
    ("CAPACITY",), "bound the cache", "the thread",
)  # fmt: skip


def test_settings_with_lists_are_read() -> None:
    text = "expandable_segments:True, roundup_power2_divisions:[256:1,512:2,>:4],max_split_size_mb:128"
    assert parse_settings(text) == {
        "expandable_segments": "True",
        "roundup_power2_divisions": "[256:1,512:2,>:4]",
        "max_split_size_mb": "128",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("expandable_segments:True", []),
        ("max_split_size_mb:128", []),
        ("garbage_collection_threshold:0.8,per_process_memory_fraction:0.9", []),
        ("roundup_power2_divisions:[256:1,512:2,>:4]", []),
        ("expandable_segments:True,max_split_size_mb:128", ["max_split_size_mb together with expandable_segments"]),
        ("garbage_collection_threshold:0.8", ["garbage_collection_threshold does nothing without a memory fraction"]),
        (
            "garbage_collection_threshold:0.8,per_process_memory_fraction:1.0",
            ["garbage_collection_threshold does nothing without a memory fraction"],
        ),
        (
            "garbage_collection_threshold:1.5,per_process_memory_fraction:0.5",
            ["garbage_collection_threshold is a share above 0 and below 1; 1.5 is set"],
        ),
        ("max_split_size_mb:10", ["max_split_size_mb is at least 20; 10 is set"]),
        (
            "backend:cudaMallocAsync,max_split_size_mb:64",
            ["backend:cudaMallocAsync leaves allocation to the driver: max_split_size_mb has no effect"],
        ),
        ("expandable_segment:True", ["the allocator settings have expandable_segment, which torch does not know"]),
    ],
)
def test_settings_that_conflict_or_do_nothing_are_told(text: str, said: list[str]) -> None:
    found = check_settings(text)
    assert [each[: len(start)] for each, start in zip(found, said, strict=True)] == said


def test_a_program_that_sets_the_fraction_makes_the_threshold_work() -> None:
    programs = {"train.py": ast.parse("torch.cuda.set_per_process_memory_fraction(0.9)")}
    environment = {"PYTORCH_ALLOC_CONF": "garbage_collection_threshold:0.8"}

    assert check_everything({"cuda": "12.8", "num_devices": 1}, environment, programs, None) == []
    assert check_everything({"cuda": "12.8", "num_devices": 1}, environment, {}, None)[0].startswith(
        "PYTORCH_ALLOC_CONF: garbage_collection_threshold does nothing"
    )


@pytest.mark.parametrize(
    ("text", "num_seen", "said"),
    [
        (None, 2, []),
        ("0", 1, []),
        ("GPU-1234", 1, []),
        ("", 0, ["CUDA_VISIBLE_DEVICES= hides all devices"]),
        ("-1", 0, ["CUDA_VISIBLE_DEVICES=-1 hides all devices"]),
        ("0,0", 0, ["CUDA_VISIBLE_DEVICES=0,0 names a device twice: CUDA then sees none"]),
        ("0,1,7", 2, ["CUDA_VISIBLE_DEVICES=0,1,7 names 3 devices, torch sees 2"]),
        ("1", 1, ["CUDA_VISIBLE_DEVICES=1 counts devices by speed, nvidia-smi by bus"]),
        ("3", None, []),
    ],
)
def test_visible_devices(text: str | None, num_seen: int | None, said: list[str]) -> None:
    found = check_visible_devices({} if text is None else {"CUDA_VISIBLE_DEVICES": text}, num_seen)
    assert [each[: len(start)] for each, start in zip(found, said, strict=True)] == said


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
    assert check_programs({"train.py": unpinned}, num_devices=None, shared_memory_bytes=1) == []


def test_known_leaks_are_those_of_this_version_and_these_devices() -> None:
    said = ["plans pile up (pytorch#94893): bound the cache"]

    assert describe_known_leaks("2.11.0+cu128", ["cpu", "cuda"], {}, [LEAK]) == said
    assert describe_known_leaks("2.12.0", ["cuda"], {}, [LEAK]) == []
    assert describe_known_leaks("1.13", ["cuda"], {}, [LEAK]) == []
    assert describe_known_leaks("2.11.0", ["cpu"], {}, [LEAK]) == []
    assert describe_known_leaks("2.11.0", ["cuda"], {"CAPACITY": "16"}, [LEAK]) == []
    assert describe_known_leaks("", ["cuda"], {}, [LEAK]) == []
    assert len(describe_known_leaks("2.13.0", ["cpu"], {})) >= 1


def test_a_program_that_cannot_be_read_is_said_in_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("x = (\n")

    with pytest.raises(UsageError, match=r"cannot read .*missing.py: No such file"):
        read_programs([tmp_path / "missing.py"])
    with pytest.raises(UsageError, match=r"cannot parse .*broken.py: line 1"):
        read_programs([broken])
