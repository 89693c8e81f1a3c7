"""Gradients that are dropped between steps, where the program sets them to zero and keeps them."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.optim.optimizer import Optimizer


def drop_gradients() -> None:
    """Have each `zero_grad` of a module or an optimizer of torch's set gradients to None."""
    for cls in (torch.nn.Module, Optimizer):
        made = cls.zero_grad
        cls.zero_grad = _with_none(made)


def _with_none(zero_grad: Any) -> Any:
    @functools.wraps(zero_grad)
    def zero_to_none(self: Any, set_to_none: bool = True) -> None:
        del set_to_none
        zero_grad(self, set_to_none=True)

    return zero_to_none
