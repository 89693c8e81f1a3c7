"""Contexts around the forward of a program's models: autocast up to the backward pass, saved tensors on the host."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

Made = Callable[[str], AbstractContextManager[Any]]
"""A context for a type of device."""


def call_around_models(enter: Callable[[torch.nn.Module], AbstractContextManager[Any]]) -> None:
    """Have `enter` make a context around each call of an outermost module with parameters, while gradients are on.

    What a checkpoint runs again in backward is no such call, nor what another thread runs.
    """
    original, thread, inside = torch.nn.Module.__call__, threading.get_ident(), [False]

    def call(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        is_inner = inside[0] or threading.get_ident() != thread or torch._C._current_graph_task_id() != -1
        if is_inner or not torch.is_grad_enabled() or next(self.parameters(), None) is None:
            return original(self, *args, **kwargs)
        inside[0] = True
        try:
            with enter(self):
                return original(self, *args, **kwargs)
        finally:
            inside[0] = False

    torch.nn.Module.__call__ = call


def saved_on_host(_: torch.nn.Module) -> AbstractContextManager[Any]:
    """What graphs save goes to the host until backward needs it."""
    context: AbstractContextManager[Any] = torch.autograd.graph.save_on_cpu(pin_memory=True)
    return context


class AutocastUpToBackward:
    """Autocast to `dtype` from a model's call to the next backward pass, so that losses are computed under it too."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._entered: ExitStack | None = None

    def install(self) -> None:
        """Leave it where a backward pass begins, or an optimizer steps."""
        torch.autograd.backward = self._leaving(torch.autograd.backward)
        torch.autograd.grad = self._leaving(torch.autograd.grad)
        register_optimizer_step_pre_hook(lambda *_: self._leave())

    def enter(self, module: torch.nn.Module) -> AbstractContextManager[Any]:
        """On from now on, beyond this call."""
        device = next(module.parameters()).device.type
        if self._entered is None and not torch.is_autocast_enabled(device):
            self._entered = ExitStack()
            self._entered.enter_context(torch.autocast(device, dtype=self._dtype))
        return ExitStack()

    def _leave(self) -> None:
        entered, self._entered = self._entered, None
        if entered is not None:
            entered.close()

    def _leaving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            self._leave()
            return original(*args, **kwargs)

        return run
