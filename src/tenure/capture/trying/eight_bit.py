"""Optimizer state in 8 bits, by torchao's Adam where it is installed (Dettmers and others, arXiv:2110.02861)."""

from __future__ import annotations

import functools
import importlib
from importlib.util import find_spec
from typing import Any

import torch

from tenure.capture.trying.program import Program

_LIBRARY = "torchao"
_CLASSES = {"Adam": "Adam8bit", "AdamW": "AdamW8bit"}
"""Of torch's classes the library's, which take the same groups."""
_BLOCK_SIZE = 256
"""Numbers that share a scale: the library's default."""


def keep_state_in_eight_bits(program: Program) -> None:
    """Has optimizers without state be of torchao's classes.

    Not at an optimizer's step: the one that runs would still be that of its class before.
    """
    for optimizer in program.optimizers:
        if _has_class(optimizer) and not optimizer.state:
            _make_eight_bit(optimizer)


def why_not_eight_bit(program: Program) -> str | None:
    """Why no optimizer can keep its state in 8 bits; None where one can."""
    if find_spec(_LIBRARY) is None:
        return f"{_LIBRARY} is not installed: not run"
    if any(map(_has_class, program.optimizers)):
        return None
    names = " and ".join(sorted({type(each).__name__ for each in program.optimizers}))
    return f"{_LIBRARY} has {', '.join(_CLASSES)} of 8 bits, and no {names}"


def _has_class(optimizer: Any) -> bool:
    cls = type(optimizer)
    return cls.__module__.startswith("torch.optim.") and cls.__name__ in _CLASSES


def _make_eight_bit(optimizer: Any) -> None:
    name = type(optimizer).__name__
    optimizer.__class__ = getattr(importlib.import_module(f"{_LIBRARY}.optim"), _CLASSES[name])
    optimizer.block_size, optimizer.bf16_stochastic_round = _BLOCK_SIZE, False
    optimizer.is_adamw = name == "AdamW"
    for group in optimizer.param_groups:
        if not isinstance(group["lr"], torch.Tensor):
            group["lr"] = torch.tensor(group["lr"], dtype=torch.float32, device="cpu")
    optimizer._patch_step_function()  # torch's hooks around the step of this class
    if "step" in vars(optimizer):  # a learning rate's schedule has bound the step of the class before
        optimizer.step = functools.partial(type(optimizer).step, optimizer)
        optimizer._opt_called = True
