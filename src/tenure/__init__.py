"""Tenure: what keeps PyTorch memory alive, which line to change, and proof that the change helped.

The names below are loaded when first used: `import tenure` itself costs next to nothing and imports no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.capture.memory import MemoryReport, memory
    from tenure.capture.record import record
    from tenure.errors import ReleaseError, StillHeldError, TenureError
    from tenure.release.caching.caches import caches, clear_caches
    from tenure.release.caching.pool import TensorPool
    from tenure.release.caching.trim import TrimPolicy
    from tenure.release.out_of_memory.batch_size import find_batch_size
    from tenure.release.out_of_memory.oom import oom_guard
    from tenure.release.outcome import Outcome
    from tenure.release.steps.collection import collect_at_steps
    from tenure.release.steps.detached import detached
    from tenure.release.steps.losses import LossMeter, LossValues
    from tenure.release.steps.metrics import compute_metric, reset_metric
    from tenure.release.steps.scopes import ScopeOutcome, step_scope
    from tenure.release.unloading.expect import expect_freed
    from tenure.release.unloading.loaded import loaded
    from tenure.release.unloading.unload import release

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
    "LossMeter": "tenure.release.steps.losses",
    "LossValues": "tenure.release.steps.losses",
    "MemoryReport": "tenure.capture.memory",
    "Outcome": "tenure.release.outcome",
    "ReleaseError": "tenure.errors",
    "ScopeOutcome": "tenure.release.steps.scopes",
    "StillHeldError": "tenure.errors",
    "TensorPool": "tenure.release.caching.pool",
    "TenureError": "tenure.errors",
    "TrimPolicy": "tenure.release.caching.trim",
    "caches": "tenure.release.caching.caches",
    "clear_caches": "tenure.release.caching.caches",
    "collect_at_steps": "tenure.release.steps.collection",
    "compute_metric": "tenure.release.steps.metrics",
    "detached": "tenure.release.steps.detached",
    "expect_freed": "tenure.release.unloading.expect",
    "find_batch_size": "tenure.release.out_of_memory.batch_size",
    "loaded": "tenure.release.unloading.loaded",
    "memory": "tenure.capture.memory",
    "oom_guard": "tenure.release.out_of_memory.oom",
    "record": "tenure.capture.record",
    "release": "tenure.release.unloading.unload",
    "reset_metric": "tenure.release.steps.metrics",
    "step_scope": "tenure.release.steps.scopes",
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
