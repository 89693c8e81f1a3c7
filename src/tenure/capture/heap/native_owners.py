"""Owners of tensors that are C++ objects: named where the program's state proves them.

What torch counts (`_use_count`) says that C++ holds a tensor, not who does. Two owners can be told without asking
them anything: autocast's weight cache, which lives exactly as long as an autocast region, and DDP's reducer, which
holds the parameters it was made with and buckets for all their gradients.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.heap.autograd import is_leaf
from tenure.capture.heap.labels import instance_dict
from tenure.model.units import format_bytes

AUTOCAST_CACHE = "autocast weight cache"
CAST_NODE = "ToCopyBackward0"
REDUCER_TYPE = "torch._C._distributed_c10d.Reducer"


def is_autocast_caching() -> bool:
    """Whether this thread is inside an autocast region that keeps lower-precision copies of weights.

    The nesting can only be asked for by entering one level; leaving it by the same counter clears nothing.
    """
    is_any_enabled = getattr(torch._C, "_is_any_autocast_enabled", torch.is_autocast_enabled)
    if not (torch.is_autocast_cache_enabled() and is_any_enabled()):
        return False
    nesting: int = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    return nesting > 1


def is_cast_by_autocast(tensor: torch.Tensor) -> bool:
    """Whether autocast, as it is set now, would cast and cache this tensor: a leaf in float32 that learns."""
    device = tensor.device.type
    if not (is_leaf(tensor) and tensor.requires_grad and tensor.dtype is torch.float32):
        return False
    try:
        return bool(torch.is_autocast_enabled(device))
    except (RuntimeError, TypeError):
        return False


@dataclass(frozen=True)
class Reducer:
    """What the C++ reducer of one `DistributedDataParallel` holds; the tensors are the program's own."""

    reducer: object
    parameters: tuple[torch.Tensor, ...]
    bucketed_gradients: tuple[torch.Tensor, ...]
    unseen_bytes: int
    """Of gradient buckets that no tensor in Python is a view of."""


def data_parallel_type() -> type | None:
    """`DistributedDataParallel` where the program has imported it."""
    found = getattr(sys.modules.get("torch.nn.parallel.distributed"), "DistributedDataParallel", None)
    return found if isinstance(found, type) else None


def reducer_of(module: Any) -> Reducer | None:
    """The reducer of a `DistributedDataParallel` module; None where it has none (yet).

    Its buckets are as large as the gradients of its parameters together (torch/csrc/distributed/c10d/reducer.cpp,
    initialize_buckets); with `gradient_as_bucket_view` the gradients lie in them.
    """
    attributes = instance_dict(module) or {}
    reducer = attributes.get("reducer")
    parameters = tuple(item for item in attributes.get("_module_parameters") or () if isinstance(item, torch.Tensor))
    if reducer is None or not parameters:
        return None
    gradients = [item.grad for item in parameters] if attributes.get("gradient_as_bucket_view") else []
    present = tuple(item for item in gradients if item is not None and item.layout is torch.strided)
    num_bytes = sum(item.numel() * item.element_size() for item in parameters if item.requires_grad)
    return Reducer(reducer, parameters, present, 0 if gradients else num_bytes)


def describe_unseen(reducer: Reducer) -> str:
    """What the census cannot show of it, in a sentence."""
    return (
        f"DistributedDataParallel keeps {format_bytes(reducer.unseen_bytes)} of gradient buckets in C++, beside the "
        "gradients (with gradient_as_bucket_view=True these lie in the buckets)"
    )
