"""A gradient scaler around backward passes and optimizers' steps, as float16 needs one."""

from __future__ import annotations

from typing import Any

import torch

from tenure.capture.trying.program import Program

INITIAL_SCALE = 1.0
"""Sizes do not depend on it. torch's own first scale may let gradients overflow, and then skips steps."""
_DONE = "_tenure_scales"


class LossScaling:
    """What a program does with a `GradScaler`: scales what it calls `backward` on, and steps through the scaler.

    The scaler is updated when all optimizers have stepped, and at the latest as the next backward pass begins.
    """

    def __init__(self) -> None:
        self._scaler: Any = None
        self._optimizers = 1
        self._stepped: set[int] = set()

    def install(self) -> None:
        """Have `backward` scale, where it is given no gradient to begin with."""
        original = torch.autograd.backward

        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **named: Any) -> None:
            self._update()
            if grad_tensors is not None:
                original(tensors, grad_tensors, *args, **named)
            else:
                original(self._scaler_of(tensors).scale(tensors), None, *args, **named)

        torch.autograd.backward = backward

    def step_scaled(self, program: Program) -> None:
        """Have the program's optimizers step through the scaler; those that do are left as they are."""
        self._optimizers = max(1, len(program.optimizers))
        for optimizer in program.optimizers:
            if _DONE not in optimizer.__dict__:
                optimizer.__dict__[_DONE] = True
                self._scale(optimizer)

    def _scale(self, optimizer: Any) -> None:
        step = optimizer.step

        def scaled(*args: Any, **named: Any) -> Any:
            if self._scaler is None:  # before any backward pass
                return step(*args, **named)
            outer, optimizer.__dict__["step"] = optimizer.__dict__["step"], step
            try:
                result = self._scaler.step(optimizer, *args, **named)
            finally:
                optimizer.__dict__["step"] = outer
            self._stepped.add(id(optimizer))
            if len(self._stepped) >= self._optimizers:
                self._update()
            return result

        optimizer.__dict__["step"] = scaled

    def _update(self) -> None:
        if self._stepped:
            self._stepped.clear()
            self._scaler.update()

    def _scaler_of(self, tensors: Any) -> Any:
        if self._scaler is None:
            first = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors))
            self._scaler = torch.amp.GradScaler(first.device.type, init_scale=INITIAL_SCALE)
        return self._scaler
