"""Tenure: what keeps PyTorch memory alive, which line to change, and proof that the change helped.

The names below are loaded when first used: `import tenure` itself costs next to nothing and imports no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.capture.memory import MemoryReport, memory
    from tenure.capture.record import record
    from tenure.errors import TenureError
    from tenure.release.detached import detached
    from tenure.release.losses import LossMeter, LossValues
    from tenure.release.scopes import ScopeOutcome, step_scope

__version__ = "0.1.0"

__all__ = [
    "LossMeter",
    "LossValues",
    "MemoryReport",
    "ScopeOutcome",
    "TenureError",
    "__version__",
    "detached",
    "memory",
    "record",
    "step_scope",
]

_HOMES = {
    "LossMeter": "tenure.release.losses",
    "LossValues": "tenure.release.losses",
    "MemoryReport": "tenure.capture.memory",
    "ScopeOutcome": "tenure.release.scopes",
    "TenureError": "tenure.errors",
    "detached": "tenure.release.detached",
    "memory": "tenure.capture.memory",
    "record": "tenure.capture.record",
    "step_scope": "tenure.release.scopes",
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
