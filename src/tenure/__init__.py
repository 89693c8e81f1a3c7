"""Tenure: what keeps PyTorch memory alive, which line to change, and proof that the change helped.

The names below are loaded when first used: `import tenure` itself costs next to nothing and imports no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.capture.memory import MemoryReport, memory
    from tenure.capture.record import record
    from tenure.errors import TenureError

__version__ = "0.1.0"

__all__ = ["MemoryReport", "TenureError", "__version__", "memory", "record"]

_HOMES = {
    "MemoryReport": "tenure.capture.memory",
    "TenureError": "tenure.errors",
    "memory": "tenure.capture.memory",
    "record": "tenure.capture.record",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tenure' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
