"""Has matrix products of half precision run in float32 on a host without instructions for them, and rounds results.

torch's own kernels took 4 to 60 times as long as float32's on an AVX2 machine. Sizes, types and what graphs keep stay
the same; the copies in float32 are made below the operation and are gone when it ends. Results are rounded once.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

_KEY = "CPU"
_NAMES = ("mm", "addmm", "bmm", "baddbmm")
_KEPT: list[torch.library.Library] = []


def multiply_halves_as_floats() -> None:
    """For the rest of this process, once; only for types for which this machine has no instructions."""
    slow = tuple(dtype for dtype, is_fast in _halves() if not is_fast)
    if _KEPT or not slow:
        return
    library = torch.library.Library("aten", "IMPL")
    _KEPT.append(library)
    named = {"allow_override": True} if "allow_override" in inspect.signature(library.impl).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced, where it cannot be said to be wanted
        for name in _NAMES:
            library.impl(name, _multiplying(getattr(torch.ops.aten, name).out, slow), _KEY, **named)


def _halves() -> Sequence[tuple[torch.dtype, bool]]:
    """Each type and whether products of it are fast here; a torch that does not say so has them as they are."""
    asked = {torch.bfloat16: "_is_mkldnn_bf16_supported", torch.float16: "_is_mkldnn_fp16_supported"}
    found = []
    for dtype, name in asked.items():
        is_supported = getattr(torch.ops.mkldnn, name, None)
        found.append((dtype, is_supported is None or bool(is_supported())))
    return found


def _multiplying(into: Any, slow: tuple[torch.dtype, ...]) -> Callable[..., torch.Tensor]:
    """`into` is the operation that writes to a given tensor: a kernel of its own, which stays torch's."""

    def multiply(*args: Any, **kwargs: Any) -> torch.Tensor:
        first, second = args[-2:]
        out = first.new_empty((*first.shape[:-1], second.shape[-1]))
        if first.dtype not in slow:
            into(*args, **kwargs, out=out)
            return out
        floats = [value.float() if isinstance(value, torch.Tensor) else value for value in args]
        wide = torch.empty_like(out, dtype=torch.float32)
        into(*floats, **kwargs, out=wide)
        return out.copy_(wide)

    return multiply
