"""What torch is just doing, told from the Python stack and from marks that torch leaves on its own classes."""

from __future__ import annotations

from collections.abc import Iterator
from threading import get_ident
from typing import Any

import torch
from torch.optim.optimizer import Optimizer


def is_nested_step(wrapper: Any) -> bool:
    """Whether an optimizer's step runs inside another's, as super().step() and wrapping optimizers do."""
    if wrapper is None or wrapper.f_code.co_name != "wrapper":
        return False
    code, frame = wrapper.f_code, wrapper.f_back
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


class RunningSteps:
    """Counts optimizers' steps that have begun on each thread: only where more than one has, the stack is looked at.

    A step that raised leaves its count behind; the stack tells then, and the next step that is no part of another
    clears it.
    """

    def __init__(self) -> None:
        self._begun: dict[int, int] = {}

    def begin(self) -> None:
        """An optimizer's step begins."""
        thread = get_ident()
        self._begun[thread] = self._begun.get(thread, 0) + 1

    def end(self, wrapper: Any) -> bool:
        """One is over, whose frame is `wrapper`; whether it runs inside another's."""
        thread = get_ident()
        begun = self._begun.pop(thread, 0)
        if begun == 1 or not is_nested_step(wrapper):
            return False
        self._begun[thread] = max(begun - 1, 0)
        return True


def is_inside_step_or_backward(frame: Any) -> bool:
    """Whether the stack from `frame` on shows an optimizer's step, or autograd is just going backward.

    What is called there is a part of the optimizer, or compiled or recomputed for the gradients: no new forward.
    """
    in_backward = getattr(torch._C, "_current_graph_task_id", None)
    if in_backward is not None and in_backward() != -1:
        return True
    while frame is not None:
        if frame.f_code is _STEP_CODE:
            return True
        frame = frame.f_back
    return False


def is_inside_module_call(frame: Any, *, own_calls: int = 1) -> bool:
    """Whether the stack from `frame` on shows more module calls than the one or none that is being entered."""
    calls = 0
    while frame is not None and calls <= own_calls:
        calls += frame.f_code is _CALL_CODE
        frame = frame.f_back
    return calls > own_calls


def has_parameters(module: Any) -> bool:
    """Whether a module or one of its submodules has a parameter."""
    return next(_own_tensors(module, "_parameters"), None) is not None


def has_buffers(module: Any) -> bool:
    """Whether a module or one of its submodules has a buffer."""
    return next(_own_tensors(module, "_buffers"), None) is not None


def has_gradients(module: Any) -> bool:
    """Whether a parameter of a module or of one of its submodules has a gradient."""
    parameters = _own_tensors(module, "_parameters")
    return any(parameter.is_leaf and parameter.grad is not None for parameter in parameters)


def _own_tensors(module: Any, table: str) -> Iterator[Any]:
    """Those of a module's own table and its submodules', as they stand there: `parameters()` may be the program's."""
    waiting, seen = [module], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        own = getattr(each, "__dict__", {})
        yield from (tensor for tensor in own.get(table, {}).values() if tensor is not None)
        waiting += [inner for inner in own.get("_modules", {}).values() if inner is not None]


def optimizer_was_made() -> bool:
    """Making an optimizer marks its class's `step`; so no reference to the optimizer itself is needed."""
    waiting = [Optimizer]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if getattr(kind.__dict__.get("step"), "hooked", False):
                return True
            waiting.append(kind)
    return False


_CALL_CODE = torch.nn.Module._call_impl.__code__
_STEP_CODE = Optimizer.profile_hook_step(lambda: None).__code__
