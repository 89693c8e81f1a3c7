"""Through which of torch's own doors a stack came: a module's call, backward, an optimizer's step.

Only torch's files and functions are asked; what the program's own are called says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise

from tenure.model.allocator import Frame, Snapshot


class Phase(IntEnum):
    """What a training loop does at an event. OUTSIDE: none of the others, as loading data; UNKNOWN: nothing tells."""

    UNKNOWN = 0
    OUTSIDE = 1
    FORWARD = 2
    BACKWARD = 3
    OPTIMIZER = 4
    ZERO_GRAD = 5


_MODULE = "torch/nn/modules/module.py"
_CALLS = frozenset(("_call_impl", "_wrapped_call_impl", "__call__"))
_DOORS: tuple[tuple[str, frozenset[str], Phase], ...] = (
    (_MODULE, _CALLS, Phase.FORWARD),
    (_MODULE, frozenset(("zero_grad",)), Phase.ZERO_GRAD),
    ("torch/optim/optimizer.py", frozenset(("zero_grad",)), Phase.ZERO_GRAD),
    ("torch/optim/optimizer.py", frozenset(("wrapper", "profile_hook_step", "_use_grad")), Phase.OPTIMIZER),
    ("torch/_tensor.py", frozenset(("backward",)), Phase.BACKWARD),
    ("torch/autograd/__init__.py", frozenset(("backward", "grad")), Phase.BACKWARD),
    ("torch/autograd/graph.py", frozenset(("_engine_run_backward",)), Phase.BACKWARD),
    ("torch/amp/grad_scaler.py", frozenset(("unscale_", "_unscale_grads_", "step", "update")), Phase.OPTIMIZER),
    ("torch/nn/utils/clip_grad.py", frozenset(("clip_grad_norm_", "clip_grad_value_")), Phase.OPTIMIZER),
)
_ENGINE = "torch::autograd::Engine::"
_WORKSPACES = ("at::cuda::getNewWorkspace", "at::cuda::getCUDABlasLtWorkspace", "at::cuda::getNewCUDABlasLtWorkspace")


def phase_of_frames(frames: Sequence[Frame]) -> Phase | None:
    """The phase that a stack (innermost first) tells of itself; None where it came through none of torch's doors.

    The innermost door counts: a closure of an optimizer's step runs forward and backward inside of it. What a thread of
    autograd's engine does is backward, recomputed forwards too, unless an optimizer steps in it.
    """
    python = [frame for frame in frames if is_python(frame)]
    found = next(filter(None, map(_door, python)), None)
    if found in (Phase.OPTIMIZER, Phase.ZERO_GRAD, Phase.BACKWARD):
        return found
    if any(_ENGINE in frame.function for frame in frames) or (python and _is_torchs(python[-1])):
        return Phase.BACKWARD
    return found


def phases_of_stacks(snapshot: Snapshot) -> list[Phase | None]:
    """The same of all stacks of a snapshot."""
    return [phase_of_frames([snapshot.frames[row] for row in stack]) for stack in snapshot.stacks]


def has_python(frames: Sequence[Frame]) -> bool:
    """Whether a line of Python is in a stack; those of autograd's threads have none."""
    return any(map(is_python, frames))


def caller_of(frames: Sequence[Frame]) -> Frame | None:
    """The line outside of torch's doors that a stack came in by; None where it came through none."""
    inside = [place for place, frame in enumerate(frames) if _door(frame) is not None]
    return frames[inside[-1] + 1] if inside and inside[-1] + 1 < len(frames) else None


def module_of(frames: Sequence[Frame]) -> Frame | None:
    """The line of the innermost module's forward that a stack goes through, of modules that are not torch's own where
    there is one; None where it goes through none."""
    python = [frame for frame in frames if is_python(frame)]
    lines = [inner for inner, outer in pairwise(python) if _door(inner) is None and _door(outer) is Phase.FORWARD]
    return next((line for line in lines if not _is_torchs(line)), lines[0] if lines else None)


def moves_module(frames: Sequence[Frame]) -> bool:
    """Whether a module was moved or cast, which makes its parameters and buffers anew."""
    return any(frame.function == "_apply" and _normal(frame.file).endswith(_MODULE) for frame in frames)


def asks_for_workspace(frames: Sequence[Frame]) -> bool:
    """Whether torch asked for the scratch memory that it keeps for cuBLAS; told where C++ was recorded."""
    return any(name in frame.function for frame in frames for name in _WORKSPACES)


def _door(frame: Frame) -> Phase | None:
    file = _normal(frame.file)
    for end, functions, phase in _DOORS:
        if frame.function in functions and file.endswith(end):
            return phase
    return None


def is_python(frame: Frame) -> bool:
    """Whether a frame is a line of Python; those of C++ have none."""
    return frame.file.endswith((".py", ">")) and frame.line > 0


def _is_torchs(frame: Frame) -> bool:
    return "/torch/" in _normal(frame.file)


def _normal(file: str) -> str:
    return file.replace("\\", "/")
