"""Out-of-memory errors: telling them from others, and freeing what the failed step still holds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FrameType, TracebackType

import torch

_SAID = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUFFT_ALLOC_FAILED",
    "CUSOLVER_STATUS_ALLOC_FAILED",
    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
    "insufficient resources when calling `cusparse",  # as torch says the same
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on a device or on the host: torch's own error, MemoryError, or what libraries say."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text.lower() in str(error).lower() for text in _SAID)


def clear_failed_frames(error: BaseException) -> int:
    """Empties the variables of all functions that the error came through and that have ended; how many there were.

    A traceback keeps every variable of every such function alive for as long as the error is. Its lines stay
    readable. Functions that still run, the caller's own among them, are not touched.
    """
    cleared = 0
    for frame in frames_of(error):
        with contextlib.suppress(RuntimeError):  # still running
            frame.clear()
            cleared += 1
    return cleared


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """The functions that an error came through, and those of the errors that it came from."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        waiting += [current.__cause__, current.__context__]
        step: TracebackType | None = current.__traceback__
        while step is not None:
            yield step.tb_frame
            step = step.tb_next
