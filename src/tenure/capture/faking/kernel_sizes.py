"""Sizes that kernels leave otherwise than torch's rules for fake tensors tell them; seen with torch 2.13 on the host.

Kernels resize in place what they made larger, and the storage stays as it was: losses that are reduced keep room for
each element (aten/src/ATen/native/Loss.cpp), images put together from columns that of the columns
(aten/src/ATen/native/Col2Im.cpp; these two are so on CUDA as well), bags of embeddings one number more.
Norms of low precision with weights in float32 keep their statistics in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

_REDUCED = ("mse_loss", "smooth_l1_loss", "binary_cross_entropy", "soft_margin_loss")
_NORMS = ("native_layer_norm", "native_group_norm", "native_batch_norm")
_CTC_LOSSES = ("Tensor", "default")


def as_kernels_leave(function: Any, args: Sequence[Any], result: Any) -> Any:
    """The result of a rule for fake tensors, with the sizes that its kernel would give it. A microsecond for most."""
    change = _CHANGES.get(function)
    return result if change is None else change(args, result)


def without_rule(function: Any, args: Sequence[Any], is_fake: Callable[[Any], bool]) -> Any:
    """The result of an operation for which torch has no rule, though what decides its sizes is known; else None."""
    if function in _CTC_BACKWARD:
        return torch.empty_like(args[1])
    if function is _PACKS and not is_fake(args[1]):
        return _packed(*args)
    if function in _CTC and not any(map(is_fake, args[2:4])):
        return _ctc(args)
    return None


def _packed(rows: Any, lengths: torch.Tensor, batch_first: bool) -> Any:
    sizes = [int((lengths > time).sum()) for time in range(int(lengths.max()))]
    return rows.new_empty((sum(sizes), *rows.shape[2:])), torch.tensor(sizes, device="cpu")


def _ctc(args: Sequence[Any]) -> Any:
    log_probabilities, _, _, lengths = args[:4]
    longest = max(lengths.tolist() if isinstance(lengths, torch.Tensor) else lengths)
    times, batch = log_probabilities.shape[:2] if log_probabilities.dim() == 3 else (len(log_probabilities), 1)
    states = log_probabilities.new_empty((batch, times, 2 * longest + 1))
    return log_probabilities.new_empty((batch,) if log_probabilities.dim() == 3 else ()), states


def _as_elements(args: Sequence[Any], result: Any) -> Any:
    if not result.dim():
        _make_room(result, torch.broadcast_shapes(args[0].shape, args[1].shape).numel())
    return result


def _as_columns(args: Sequence[Any], result: Any) -> Any:
    _make_room(result, args[0].numel())
    return result


def _one_more(args: Sequence[Any], result: Any) -> Any:
    _make_room(result[1], result[1].numel() + 1 if result[1].numel() else 0)
    return result


def _statistics_of_weights(args: Sequence[Any], result: Any) -> Any:
    output, *statistics = result
    weight = next((each for each in args[1:3] if isinstance(each, torch.Tensor)), None)
    if weight is None or weight.dtype != torch.float32:
        return result
    return output, *(each.to(torch.float32) for each in statistics)


def _gradient_of_input(args: Sequence[Any], result: Any) -> Any:
    gradient, *rest = result
    return (gradient if gradient is None else gradient.to(args[1].dtype)), *rest


def _make_room(tensor: Any, elements: int) -> None:
    storage = tensor.untyped_storage()
    if elements * tensor.element_size() > storage.nbytes():
        # Past the method of the class, which tells when a program resizes a storage itself.
        torch._C.StorageBase.resize_(storage, elements * tensor.element_size())


def _overload(name: str, overload: str = "default") -> Any:
    return getattr(getattr(torch.ops.aten, name, None), overload, None)


_CHANGES: dict[Any, Callable[[Sequence[Any], Any], Any]] = {
    **{_overload(name): _as_elements for name in _REDUCED},
    **{_overload(name): _statistics_of_weights for name in _NORMS},
    _overload("native_group_norm_backward"): _gradient_of_input,
    _overload("col2im"): _as_columns,
    _overload("_embedding_bag"): _one_more,
}
_PACKS = _overload("_pack_padded_sequence")
_CTC, _CTC_BACKWARD = (
    {_overload(name, overload) for overload in _CTC_LOSSES} for name in ("_ctc_loss", "_ctc_loss_backward")
)
