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

from tenure.capture.guarding.replaced import Replaced


class ScalerWatch(Replaced):
    """Tells, until closed, of each optimizer whose step a scaler was asked for and did not take."""

    def __init__(self, count_steps: Callable[[], int], on_skipped: Callable[[Any], None]) -> None:
        def make(original: Any) -> Any:
            @functools.wraps(original)
            def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
                if torch.compiler.is_compiling():
                    return original(self, optimizer, *args, **kwargs)
                before = count_steps()
                result = original(self, optimizer, *args, **kwargs)
                if count_steps() == before:
                    on_skipped(optimizer)
                return result

            return step

        super().__init__(GradScaler, "step", make)
