"""How an optimizer steps: tensor by tensor, or in one kernel for many (`fused`)."""

from __future__ import annotations

from typing import Any

from tenure.capture.trying.program import Program

_FUSED = ("Adam", "AdamW", "SGD")
"""Optimizers of torch that have such kernels on the host as on CUDA."""


def why_not_single(program: Program) -> str | None:
    """Why no optimizer can be asked to step tensor by tensor; None where one can."""
    if any("foreach" in group for optimizer in program.optimizers for group in optimizer.param_groups):
        return None
    return f"{_names(program)} takes no `foreach`"


def step_single(program: Program) -> None:
    """`foreach=False` for all groups that know the word."""
    for group in _groups(program):
        if "foreach" in group:
            group["foreach"] = False


def why_not_fused(program: Program) -> str | None:
    """Why no optimizer can step fused; None where one can."""
    if any(map(_can_fuse, program.optimizers)):
        return None
    return f"{_names(program)} has no fused kernel"


def step_fused(program: Program) -> None:
    """`fused=True` for all optimizers that have such kernels; before their first step, as it decides on their state."""
    for optimizer in filter(_can_fuse, program.optimizers):
        for group in optimizer.param_groups:
            group["fused"], group["foreach"] = True, False


def _can_fuse(optimizer: Any) -> bool:
    cls = type(optimizer)
    is_torchs = cls.__module__.startswith("torch.optim.") and cls.__name__ in _FUSED
    return is_torchs and not any(group.get("differentiable") for group in optimizer.param_groups)


def _groups(program: Program) -> list[dict[str, Any]]:
    return [group for optimizer in program.optimizers for group in optimizer.param_groups]


def _names(program: Program) -> str:
    return " and ".join(sorted({type(each).__name__ for each in program.optimizers})) or "a program without optimizer"
