"""A tensor's values without the graph that made them, and without memory that they only happen to lie in."""

from __future__ import annotations

import torch

from tenure.capture.heap.autograd import is_leaf
from tenure.capture.tensors.storages import sparse_parts

MOST_UNUSED = 2
"""A storage of more than so many times the bytes that a tensor shows of it is not worth keeping for them."""


def carries_graph(tensor: torch.Tensor) -> bool:
    """Whether an autograd graph hangs on this tensor. Asks without making a wrapper for the graph's node."""
    return tensor.requires_grad and not is_leaf(tensor)


def shown_bytes(tensor: torch.Tensor) -> int:
    """Bytes of a tensor's own values; of a sparse one, which has no `nbytes`, those of its parts."""
    try:
        return int(tensor.nbytes)
    except RuntimeError:
        return sum(int(part.nbytes) for part in sparse_parts(tensor))


def without_graph(tensor: torch.Tensor, num_bytes: int | None = None) -> torch.Tensor:
    """The same values, detached; shares the tensor's memory, except where that is twice what the tensor shows, which
    is `num_bytes` where the caller has asked already.

    Then the values are copied: a view may pin a whole batch, and `mse_loss` of torch 2.13 gives back a number that
    lies in a storage as large as its input (pytorch#185647). Never synchronises.
    """
    values = tensor.detach()
    try:
        stored = values.untyped_storage().nbytes()
    except RuntimeError:  # sparse, opaque
        return values
    return values.clone() if stored > MOST_UNUSED * (values.nbytes if num_bytes is None else num_bytes) else values
