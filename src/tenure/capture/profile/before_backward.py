"""The moment before a backward pass begins, where a dispatch mode can still be taken off the stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class BeforeBackward:
    """Calls something before each backward pass that Python code starts, in place of torch's own function for that."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._begun: Callable[..., Any] | None = None
        self._found: Callable[..., Any] | None = None

    def install(self) -> None:
        """From now on; nothing where this torch has no such function."""
        found = self._found = getattr(torch.autograd, "_engine_run_backward", None)
        if found is None:
            return

        def run_backward(*args: Any, **kwargs: Any) -> Any:
            self._call()
            return found(*args, **kwargs)

        self._begun = run_backward
        torch.autograd._engine_run_backward = run_backward

    def remove(self) -> None:
        """Put torch's own back, unless somebody else has come in its way since."""
        if self._begun is not None and getattr(torch.autograd, "_engine_run_backward", None) is self._begun:
            torch.autograd._engine_run_backward = self._found
        self._begun = None
