"""Tenure: what keeps PyTorch memory alive, which line to change, and proof that the change helped.

The names below are loaded when first used: `import tenure` itself costs next to nothing and imports no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.capture.memory import MemoryReport, memory
    from tenure.capture.record import record
    from tenure.errors import ReleaseError, StillHeldError, TenureError
    from tenure.release.detached import detached
    from tenure.release.expect import expect_freed
    from tenure.release.loaded import loaded
    from tenure.release.losses import LossMeter, LossValues
    from tenure.release.outcome import Outcome
    from tenure.release.scopes import ScopeOutcome, step_scope
    from tenure.release.unload import release

__version__ = "0.1.0"

__all__ = [
    "LossMeter",
    "LossValues",
    "MemoryReport",
    "Outcome",
    "ReleaseError",
    "ScopeOutcome",
    "StillHeldError",
    "TenureError",
    "__version__",
    "detached",
    "expect_freed",
    "loaded",
    "memory",
    "record",
    "release",
    "step_scope",
]

_HOMES = {
    "LossMeter": "tenure.release.losses",
    "LossValues": "tenure.release.losses",
    "MemoryReport": "tenure.capture.memory",
    "Outcome": "tenure.release.outcome",
    "ReleaseError": "tenure.errors",
    "ScopeOutcome": "tenure.release.scopes",
    "StillHeldError": "tenure.errors",
    "TenureError": "tenure.errors",
    "detached": "tenure.release.detached",
    "expect_freed": "tenure.release.expect",
    "loaded": "tenure.release.loaded",
    "memory": "tenure.capture.memory",
    "record": "tenure.capture.record",
    "release": "tenure.release.unload",
    "step_scope": "tenure.release.scopes",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tenure' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(home)
    if name not in globals():  # importing the room `release` binds that name: the room can be called
        globals()[name] = getattr(module, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
