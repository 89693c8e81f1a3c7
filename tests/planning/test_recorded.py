from __future__ import annotations

from pathlib import Path

import pytest

from tenure.errors import UsageError
from tenure.planning.recorded import stream_of_run


@pytest.mark.parametrize(
    ("exit_code", "last_line", "timed_out", "message"),
    [
        (1, "AssertionError: Torch not compiled with CUDA enabled", False,
         "train.py needs a GPU to start: AssertionError: Torch not compiled with CUDA enabled; let it take the CPU"),
        (1, "RuntimeError: Cannot get CUDA generator without ATen_cuda library.", False,
         "train.py needs a GPU to start: RuntimeError: Cannot get CUDA generator without ATen_cuda library."),
        (1, "AssertionError: GPU required", False, "train.py needs a GPU to start: AssertionError: GPU required; let "),
        (1, "RuntimeError: CUDA is required", False, "train.py needs a GPU to start: RuntimeError: CUDA is required"),
        (1, "ValueError: Error initializing torch.distributed: environment variable RANK expected, but not set", False,
         "train.py is started by a launcher: ValueError: Error initializing torch.distributed: environment variable "
         "RANK expected, but not set; --world-size 8 plans it as the first of so many ranks"),
        (1, "FileNotFoundError: [Errno 2] No such file or directory: 'data.bin'", False,
         "train.py ended with exit code 1 after 0 steps: FileNotFoundError: [Errno 2] No such file or directory"),
        (0, "", False, "train.py made no step that could be seen"),
        (1, "not with fake tensors: train.py:9 in route: what aten.nonzero.default gives depends on values", False,
         "train.py cannot be planned with --fake: train.py:9 in route: what aten.nonzero.default gives depends on "),
        (1, "RuntimeError: [enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: y",
         False, "train.py needs more memory than this machine gives it: RuntimeError: [enforce fail at alloc_cpu.cpp"),
        (1, "MemoryError", False, "train.py needs more memory than this machine gives it: MemoryError; --fake plans"),
        (-9, "", False, "train.py was killed after 0 steps, perhaps for want of memory: --fake plans it without "),
        (-15, "", True, "train.py made 0 steps before the time was over; four are needed: give more with --timeout"),
    ],
)  # fmt: skip
def test_a_run_without_a_stream_is_explained_in_one_line(
    exit_code: int, last_line: str, timed_out: bool, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        stream_of_run(tmp_path, program="train.py", exit_code=exit_code, last_line=last_line, timed_out=timed_out)

    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("last_words", "message"),
    [
        ("no GPU found, exiting", "train.py needs a GPU to start: no GPU found, exiting; let it take the CPU"),
        ("config missing", "train.py made no step that could be seen (no optimizer step, no module call): nothing to "
         "plan with; its last words: config missing"),
    ],
)  # fmt: skip
def test_a_program_that_ended_by_itself_has_the_last_word(last_words: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        stream_of_run(tmp_path, program="train.py", exit_code=0, last_line="", timed_out=False, last_words=last_words)

    assert str(caught.value).startswith(message)


def test_later_steps_need_as_many_more(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="made 0 steps before the time was over; 22 are needed: give more"):
        stream_of_run(tmp_path, program="train.py", exit_code=-15, last_line="", timed_out=True, step=20)
