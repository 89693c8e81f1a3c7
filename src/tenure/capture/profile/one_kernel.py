"""Functions that a device runs as one kernel, noted as one operation: the step of torchao's optimizers.

They are written to be compiled (`torch.compile(single_param_adam, fullgraph=True)`, torchao/optim/adam.py), and where
nothing is compiled they make a dozen tensors of a parameter's size that the kernel does not make.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tenure.capture.profile.shards import parts_of
from tenure.capture.tensors.arguments import tensors_in

_KERNELS = (("torchao.optim.adam", "single_param_adam"),)


def note_as_one(begin: Callable[[], None], end: Callable[[str, list[Any]], None]) -> Callable[[], None]:
    """Calls `begin` before such a function runs, and `end` with its name and the plain tensors among its arguments
    after it. Gives back what undoes this."""
    changed = []
    for module_name, name in _KERNELS:
        module = sys.modules.get(module_name)
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, _noting(original, f"{module_name}.{name}", begin, end))
            changed.append((module, name, original))

    def undo() -> None:
        for module, name, original in changed:
            setattr(module, name, original)

    return undo


def _noting(
    original: Callable[..., Any], name: str, begin: Callable[[], None], end: Callable[[str, list[Any]], None]
) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        begin()
        try:
            return original(*args, **kwargs)
        finally:
            given = tensors_in((*args, *kwargs.values()))
            end(name, [part for tensor in given for part in parts_of(tensor)])

    return run
