"""Gradient accumulation: of so many steps of an optimizer only the last is made, and gradients are kept until then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenure.capture.trying.program import Program
from tenure.model.trial import MICRO_BATCHES

_DONE = "_tenure_accumulates"


def accumulate(program: Program) -> None:
    """Skip steps and `zero_grad` of all optimizers but every so many; those that are done already are left."""
    for optimizer in program.optimizers:
        if _DONE not in optimizer.__dict__:
            optimizer.__dict__[_DONE] = True
            _skip(optimizer)


def _skip(optimizer: Any) -> None:
    step, zero_grad, calls = optimizer.step, optimizer.zero_grad, [0]

    def step_at_last(closure: Callable[[], Any] | None = None, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] % MICRO_BATCHES == 0:
            return step(**options) if closure is None else step(closure, **options)
        return None if closure is None else closure()

    def zero_at_first(set_to_none: bool = True) -> None:
        if calls[0] % MICRO_BATCHES == 0:
            zero_grad(set_to_none=set_to_none)

    optimizer.__dict__["step"], optimizer.__dict__["zero_grad"] = step_at_last, zero_at_first
