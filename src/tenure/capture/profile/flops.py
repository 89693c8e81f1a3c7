"""How many floating point operations an operation took, by torch's own formulas: matrix products, convolutions and
attention. All others count as none."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from torch.utils import flop_counter

_FORMULAS = getattr(flop_counter, "flop_registry", {})
_FORWARD = getattr(flop_counter, "sdpa_flop_count", None)
_BACKWARD = getattr(flop_counter, "sdpa_backward_flop_count", None)
_ON_HOST = "aten._scaled_dot_product_flash_attention_for_cpu"
"""The host's own kernel of attention, which torch has no formula for: it multiplies what the device's multiplies."""


def flops_of(function: Any, args: Any, kwargs: Any, result: Any) -> int:
    """0 for what has no formula, and where the formula does not take what the operation took. About 2 microseconds."""
    packet = getattr(function, "_overloadpacket", None)
    formula = _FORMULAS.get(packet)
    with suppress(TypeError, ValueError, IndexError, AttributeError, AssertionError):
        if formula is not None:
            return int(formula(*args, **(kwargs or {}), out_val=result))
        if str(packet).startswith(_ON_HOST):
            return _of_attention(str(packet) == _ON_HOST, args)
    return 0


def _of_attention(is_forward: bool, args: Any) -> int:
    shapes = [tensor.shape for tensor in args[: 3 if is_forward else 4]]
    formula = _FORWARD if is_forward else _BACKWARD
    return 0 if formula is None else int(formula(*shapes))
