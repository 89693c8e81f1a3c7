"""Functions of torch's that ours stand in for, in a way that TorchScript, which knows torch's by identity, accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.jit._builtins as script


def stand_in(owner: Any, name: str, function: Callable[..., Any]) -> None:
    """For the rest of this process. In compiled script torch's own function goes on to run."""
    operation = script._find_builtin(getattr(owner, name))
    setattr(owner, name, function)
    if operation is not None:
        script._register_builtin(function, operation)
