"""Who is at work with a module right now: a running backward, a call of it in some thread."""

from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path

import torch

from tenure.capture.frames import Frame, running_frames

_CALLS = ("forward", "_call_impl", "_wrapped_call_impl", "_slow_forward")


def is_backward_running() -> bool:
    """Whether this thread is inside a backward pass (a hook, or the backward of a custom function)."""
    read = getattr(torch._C, "_current_graph_task_id", None)
    return read is not None and read() != -1


def describe_calls(modules: Collection[int]) -> str:
    """What runs inside one of the modules (ids): "thread Loader runs TextEncoder.forward (model.py:30)"; "" if nothing.

    Of other threads any method counts, of this one the module's call alone: a method may well release its own module.
    """
    this = threading.get_ident()
    for frame in running_frames():
        is_call = frame.thread != this or frame.frame.f_code.co_name in _CALLS
        if is_call and _self_of(frame) in modules:
            who = "this thread" if frame.thread == this else f"thread {_thread_name(frame.thread)}"
            return f"{who} runs {frame.qualname} ({Path(frame.file).name}:{frame.line})"
    return ""


def _self_of(frame: Frame) -> int:
    """The id of what the running function's first parameter is bound to; 0 where it has none."""
    code = frame.frame.f_code
    first = code.co_varnames[0] if code.co_argcount else ""
    return next((id(value) for name, value in frame.locals if name == first), 0)


def _thread_name(number: int) -> str:
    return next((each.name for each in threading.enumerate() if each.ident == number), str(number))
