"""Tenure: what keeps PyTorch memory alive, which line to change, and proof that the change helped.

The names below are loaded when first used: `import tenure` itself costs next to nothing and imports no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.capture.memory import MemoryReport, memory
    from tenure.capture.record import record
    from tenure.errors import ReleaseError, StillHeldError, TenureError
    from tenure.release.batch_size import find_batch_size
    from tenure.release.caches import caches, clear_caches
    from tenure.release.collection import collect_at_steps
    from tenure.release.detached import detached
    from tenure.release.expect import expect_freed
    from tenure.release.loaded import loaded
    from tenure.release.losses import LossMeter, LossValues
    from tenure.release.metrics import compute_metric, reset_metric
    from tenure.release.oom import oom_guard
    from tenure.release.outcome import Outcome
    from tenure.release.pool import TensorPool
    from tenure.release.scopes import ScopeOutcome, step_scope
    from tenure.release.trim import TrimPolicy
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
    "TensorPool",
    "TenureError",
    "TrimPolicy",
    "__version__",
    "caches",
    "clear_caches",
    "collect_at_steps",
    "compute_metric",
    "detached",
    "expect_freed",
    "find_batch_size",
    "loaded",
    "memory",
    "oom_guard",
    "record",
    "release",
    "reset_metric",
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
    "TensorPool": "tenure.release.pool",
    "TenureError": "tenure.errors",
    "TrimPolicy": "tenure.release.trim",
    "caches": "tenure.release.caches",
    "clear_caches": "tenure.release.caches",
    "collect_at_steps": "tenure.release.collection",
    "compute_metric": "tenure.release.metrics",
    "detached": "tenure.release.detached",
    "expect_freed": "tenure.release.expect",
    "find_batch_size": "tenure.release.batch_size",
    "loaded": "tenure.release.loaded",
    "memory": "tenure.capture.memory",
    "oom_guard": "tenure.release.oom",
    "record": "tenure.capture.record",
    "release": "tenure.release.unload",
    "reset_metric": "tenure.release.metrics",
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
