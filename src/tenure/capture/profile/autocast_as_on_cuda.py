"""Has autocast of the host compute norms, softmax and sums in float32, as it does on CUDA.

What autocast computes in float32 differs by device (aten/src/ATen/autocast_mode.h), and with it what graphs keep: a
layer norm of the host's saves its input in bfloat16, one on CUDA a copy in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_KEY = "AutocastCPU"
_IN_FLOAT = (
    "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "softplus", "pow.Tensor_Scalar",
    "pow.Tensor_Tensor", "pow.Scalar", "layer_norm", "native_layer_norm", "rms_norm", "group_norm",
    "frobenius_norm.dim", "cosine_similarity", "nll_loss", "nll_loss2d", "kl_div", "l1_loss", "smooth_l1_loss",
    "huber_loss", "mse_loss", "binary_cross_entropy_with_logits", "dist", "cdist", "renorm", "logsumexp",
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_bilinear2d", "upsample_bicubic2d",
)  # fmt: skip
"""Operations whose arguments are made float32."""
_TO_FLOAT = ("prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum", "sum", "sum.dim_IntList")
"""Operations that are asked for float32 where the program asks for no type."""
_LOW = (torch.bfloat16, torch.float16)
_KEPT: list[torch.library.Library] = []


def autocast_as_on_cuda() -> None:
    """For the rest of this process, once. What the host's autocast has a rule for itself stays as it is."""
    if _KEPT:
        return
    library = torch.library.Library("aten", "IMPL")
    _KEPT.append(library)
    for names, make in ((_IN_FLOAT, _with_floats), (_TO_FLOAT, _asked_for_float)):
        for name in names:
            if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", _KEY):
                packet, _, overload = name.partition(".")
                function = getattr(getattr(torch.ops.aten, packet), overload or "default")
                library.impl(name, make(function), _KEY)


def _with_floats(function: Any) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _below(function, *map(_as_float, args), **{name: _as_float(each) for name, each in kwargs.items()})

    return run


def _asked_for_float(function: Any) -> Callable[..., Any]:
    def run(tensor: torch.Tensor, *args: Any, dtype: torch.dtype | None = None) -> Any:
        wanted = torch.float32 if dtype is None and tensor.dtype in _LOW else dtype
        return _below(function, tensor, *args, dtype=wanted)

    return run


def _below(function: Any, *args: Any, **kwargs: Any) -> Any:
    """What the operation does without autocast."""
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)):
        return function(*args, **kwargs)


def _as_float(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in _LOW else value
