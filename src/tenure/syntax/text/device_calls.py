"""Calls that speak to the allocator of a device or to the garbage collector."""

from __future__ import annotations

import ast

from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted


def empties_cache(call: ast.Call) -> bool:
    """`torch.cuda.empty_cache()` and that of other devices."""
    return called_name(call) == "empty_cache" and not call.args and dotted(call.func).startswith("torch.")


def collects(call: ast.Call) -> bool:
    """`gc.collect()`."""
    return dotted(call.func) == "gc.collect"
