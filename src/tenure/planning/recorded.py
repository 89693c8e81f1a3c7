"""The memory stream that a run has left, or why it left none."""

from __future__ import annotations

import re
from pathlib import Path

from tenure.errors import RecordingError, UsageError
from tenure.model.recording import Recording
from tenure.model.stream import NOT_WITH_FAKES, StepStream
from tenure.store.recording_file import list_recordings, open_recording, read_process
from tenure.store.stream_file import read_stream

_WANTS_DEVICE = re.compile(
    r"not compiled with CUDA|No CUDA GPUs|Found no NVIDIA driver|CUDA is not available|torch\.cuda|cuda.*available|"
    r"libcuda|no CUDA-capable device|requires? (a )?GPU|NCCL",
    re.IGNORECASE,
)
_OUT_OF_HOST_MEMORY = re.compile(r"can't allocate memory|not enough memory|MemoryError", re.IGNORECASE)
"""What torch's allocator of the host says (c10/core/CPUAllocator.cpp, c10/core/impl/alloc_cpu.cpp), and Python."""
_KILLED = (-9, 137)
"""As the system ends what takes more memory than there is; the second where a shell stood between."""
_WITHOUT_MEMORY = "--fake plans it without memory for its tensors"


def stream_of_run(folder: Path, *, program: str, exit_code: int, last_line: str, timed_out: bool) -> StepStream:
    """The stream of the first process that has one; a UsageError with the reason where none has."""
    recordings = [Path(path) for path in list_recordings(folder)]
    for path in recordings:
        for file in sorted(path.glob("stream-*.npz")):
            return read_stream(file)
    raise UsageError(_why_none(recordings, program, exit_code, last_line, timed_out=timed_out))


def is_distributed(folder: Path) -> bool:
    """Whether the run had several ranks."""
    return any((read_process(Path(path)).get("world_size") or 1) > 1 for path in list_recordings(folder))


def _why_none(recordings: list[Path], program: str, exit_code: int, last_line: str, *, timed_out: bool) -> str:
    found = next(filter(None, map(_opened, recordings)), None)
    steps = len(found.steps) if found is not None else 0
    reached = f"{program} made {steps} {'step' if steps == 1 else 'steps'}"
    said = f": {last_line}" if last_line else ""
    if timed_out:
        return f"{reached} before the time was over; four are needed: give more with --timeout, or a smaller batch"
    if exit_code and NOT_WITH_FAKES in last_line:
        return f"{program} cannot be planned with --fake: {last_line.partition(NOT_WITH_FAKES)[2]}"
    if exit_code and _OUT_OF_HOST_MEMORY.search(last_line):
        return f"{program} needs more memory than this machine gives it{said}; {_WITHOUT_MEMORY}"
    if exit_code in _KILLED:
        return f"{program} was killed after {steps} steps, perhaps for want of memory: {_WITHOUT_MEMORY}"
    if exit_code and _WANTS_DEVICE.search(last_line):
        return f"{program} needs a GPU to start{said}; let it take the CPU where there is none, as for a test"
    if exit_code:
        return f"{program} ended with exit code {exit_code} after {steps} steps{said}"
    if found is None:
        return f"{program} made no step that could be seen (no optimizer step, no module call): nothing to plan with"
    told = [note.text for note in found.notes if "not profiled" in note.text]
    why = told[-1] if told else "four are needed, for the second and third are watched"
    return f"{reached} and left no memory stream: {why}"


def _opened(path: Path) -> Recording | None:
    try:
        return open_recording(path)
    except RecordingError:
        return None
