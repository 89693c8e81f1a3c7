"""The memory stream that a run has left, or why it left none."""

from __future__ import annotations

import re
from pathlib import Path

from tenure.errors import NoStreamError, RecordingError
from tenure.model.recording import Recording
from tenure.model.stream import NOT_WITH_FAKES, StepStream
from tenure.store.recording_file import list_recordings, open_recording, read_process
from tenure.store.stream_file import read_stream

_WANTS_DEVICE = re.compile(
    r"not compiled with CUDA|No CUDA GPUs|Found no NVIDIA driver|CUDA is not available|torch\.cuda|cuda.*available|"
    r"libcuda|ATen_cuda|no CUDA-capable device|NCCL|"
    r"\b(requires?|needs?|no|without) (an? )?(NVIDIA |CUDA )?(GPU|CUDA)\b|"
    r"\b(GPU|CUDA)s? (is |are )?(required|needed|missing|not (found|available|detected))",
    re.IGNORECASE,
)
_OUT_OF_HOST_MEMORY = re.compile(r"can't allocate memory|not enough memory|MemoryError", re.IGNORECASE)
"""What torch's allocator of the host says (c10/core/CPUAllocator.cpp, c10/core/impl/alloc_cpu.cpp), and Python."""
_WANTS_LAUNCHER = re.compile(
    r"environment variable (RANK|WORLD_SIZE|LOCAL_RANK|MASTER_\w+) expected|KeyError: '(LOCAL_)?RANK'"
)
"""What programs say that `torchrun` starts."""
_KILLED = (-9, 137)
"""As the system ends what takes more memory than there is; the second where a shell stood between."""
_FIRST = 2
_WITHOUT_MEMORY = "--fake plans it without memory for its tensors"


def stream_of_run(
    folder: Path, *, program: str, exit_code: int, last_line: str, timed_out: bool, step: int = 2, last_words: str = ""
) -> StepStream:
    """The stream of the first process that has one; a NoStreamError with the reason where none has. `step` is the first
    that was to be watched, `last_line` of the program's errors and `last_words` of its output."""
    recordings = [Path(path) for path in list_recordings(folder)]
    for path in recordings:
        for file in sorted(path.glob("stream-*.npz")):
            return read_stream(file)
    found = next(filter(None, map(_opened, recordings)), None)
    told = last_line or ("" if found is not None and found.steps else last_words)
    why = _why_none(found, program, exit_code, told, step, timed_out=timed_out)
    raise NoStreamError(why, folder, 0 if found is None else len(found.steps))


def is_distributed(folder: Path) -> bool:
    """Whether the run had several ranks."""
    return any((read_process(Path(path)).get("world_size") or 1) > 1 for path in list_recordings(folder))


def _why_none(
    found: Recording | None, program: str, exit_code: int, last_line: str, step: int, *, timed_out: bool
) -> str:
    steps = len(found.steps) if found is not None else 0
    reached = f"{program} made {steps} {'step' if steps == 1 else 'steps'}"
    said = f": {last_line}" if last_line else ""
    needed = "four" if step == _FIRST else str(step + 2)
    if timed_out:
        return f"{reached} before the time was over; {needed} are needed: give more with --timeout, or a smaller batch"
    if exit_code and NOT_WITH_FAKES in last_line:
        return f"{program} cannot be planned with --fake: {last_line.partition(NOT_WITH_FAKES)[2]}"
    if exit_code and _OUT_OF_HOST_MEMORY.search(last_line):
        return f"{program} needs more memory than this machine gives it{said}; {_WITHOUT_MEMORY}"
    if exit_code in _KILLED:
        return f"{program} was killed after {steps} steps, perhaps for want of memory: {_WITHOUT_MEMORY}"
    if exit_code and _WANTS_LAUNCHER.search(last_line):
        return f"{program} is started by a launcher{said}; --world-size 8 plans it as the first of so many ranks"
    if (exit_code or not steps) and _WANTS_DEVICE.search(last_line):
        return f"{program} needs a GPU to start{said}; let it take the CPU where there is none, as for a test"
    if exit_code:
        return f"{program} ended with exit code {exit_code} after {steps} steps{said}"
    if found is None:
        last = f"; its last words: {last_line}" if last_line else ""
        return (
            f"{program} made no step that could be seen (no optimizer step, no module call): nothing to plan with{last}"
        )
    told = [note.text for note in found.notes if "not profiled" in note.text]
    why = told[-1] if told else f"{needed} are needed, for {_watched(step)} are watched"
    return f"{reached} and left no memory stream: {why}"


def _watched(step: int) -> str:
    return "the second and third" if step == _FIRST else f"steps {step} and {step + 1}"


def _opened(path: Path) -> Recording | None:
    try:
        return open_recording(path)
    except RecordingError:
        return None
