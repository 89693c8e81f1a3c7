"""Half of a batch: the arguments of a step with the first dimension of their tensors halved."""

from __future__ import annotations

from typing import Any

import torch

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def batch_size_of(value: Any) -> int | None:
    """Length of the first dimension of the first tensor in arguments, lists and dicts; None where there is none."""
    if isinstance(value, torch.Tensor):
        return value.size(0) if value.dim() else None
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return next((size for size in map(batch_size_of, inner) if size is not None), None)


def halve_batch(*args: Any, **kwargs: Any) -> Arguments | None:
    """The same arguments with every tensor of the batch's length cut to its first half; None where one sample is left.

    The batch's length is that of the first tensor; tensors of another length are passed on as they are. Views: no
    memory is copied, and the second half of the samples is not seen in this step.
    """
    size = batch_size_of((args, kwargs))
    if size is None or size < 2:
        return None
    halved: Arguments = _halved((args, kwargs), size)
    return halved


def _halved(value: Any, size: int) -> Any:
    if isinstance(value, torch.Tensor):
        return value[: size // 2] if value.dim() and value.size(0) == size else value
    if isinstance(value, dict):
        return {key: _halved(each, size) for key, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_halved(each, size) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(_halved(each, size) for each in value)
    return value
