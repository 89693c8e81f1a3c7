"""Who is at work with a module right now: a running backward, a call of it in some thread."""

from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.frames import Frame, running_frames
from tenure.release.unloading.slots import modules_below

_CALLS = ("forward", "_call_impl", "_wrapped_call_impl", "_slow_forward")


def is_backward_running() -> bool:
    """Whether this thread is inside a backward pass (a hook, or the backward of a custom function)."""
    read = getattr(torch._C, "_current_graph_task_id", None)
    return read is not None and read() != -1


def describe_calls(modules: Collection[int], *, by_others_alone: bool = False) -> str:
    """What runs inside one of the modules (ids): "thread Loader runs TextEncoder.forward (model.py:30)"; "" if nothing.

    Of other threads any method counts, and the call of a module that has one of these inside and may yet come to it; of
    this one the module's call alone: a method may well release its own module, or a part of it.
    """
    this = threading.get_ident()
    for frame in running_frames():
        if frame.thread == this and by_others_alone:
            continue
        is_call = frame.frame.f_code.co_name in _CALLS
        owner = _owner_of(frame)
        found = id(owner) in modules and (is_call or frame.thread != this)
        if found or (is_call and frame.thread != this and _has_inside(owner, modules)):
            who = "this thread" if frame.thread == this else f"thread {_thread_name(frame.thread)}"
            return f"{who} runs {frame.qualname} ({Path(frame.file).name}:{frame.line})"
    return ""


def _owner_of(frame: Frame) -> Any:
    """What the running function's first parameter is bound to; None where it has none."""
    code = frame.frame.f_code
    first = code.co_varnames[0] if code.co_argcount else ""
    return next((value for name, value in frame.locals if name == first), None)


def _has_inside(owner: Any, modules: Collection[int]) -> bool:
    return isinstance(owner, nn.Module) and any(number in modules for number in modules_below([owner]))


def _thread_name(number: int) -> str:
    return next((each.name for each in threading.enumerate() if each.ident == number), str(number))
