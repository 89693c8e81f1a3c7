"""Steps that a gradient scaler skips for infinite gradients: turns of the training loop like any other.

`GradScaler.step` is replaced while we record. After it has run, an optimizer whose hook did not come was skipped.
Dynamo must not see the replacement (it breaks graphs elsewhere, measured on torch 2.13): compiled calls suspend it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler


class ScalerWatch:
    """Tells of each optimizer whose step a scaler was asked for and did not take."""

    def __init__(self, count_steps: Callable[[], int], on_skipped: Callable[[Any], None]) -> None:
        self._original = original = GradScaler.step

        @functools.wraps(original)
        def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return original(self, optimizer, *args, **kwargs)
            before = count_steps()
            result = original(self, optimizer, *args, **kwargs)
            if count_steps() == before:
                on_skipped(optimizer)
            return result

        self._replacement = step
        self._closed = False
        self.resume()

    def suspend(self) -> None:
        """Leave the class as it was found, until `resume`."""
        if GradScaler.__dict__.get("step") is self._replacement:
            GradScaler.step = self._original

    def resume(self) -> None:
        """Watch again, unless somebody else has replaced the function since."""
        if not self._closed and GradScaler.__dict__.get("step") is self._original:
            GradScaler.step = self._replacement

    def close(self) -> None:
        """Leave the class as it was found, for good."""
        self._closed = True
        self.suspend()
