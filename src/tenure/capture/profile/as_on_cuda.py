"""Has optimizers choose on the host what they would choose on a CUDA device: all parameters in one call (foreach).

What they choose decides how much memory their steps take: foreach makes lists as large as all parameters. torch asks
one function which devices have such kernels, and the host has slow ones; what is computed is the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_ASKED = "_get_foreach_kernels_supported_devices"
_ASKS = ("torch.utils._foreach_utils", "torch.optim.optimizer", "torch.optim.swa_utils")


def choose_as_on_cuda() -> Callable[[], None]:
    """Until the function that is given back is called; where this torch has no such function, nothing is changed."""
    changed: list[tuple[Any, Any]] = []
    for name in _ASKS:
        module = sys.modules.get(name)
        asked = getattr(module, _ASKED, None)
        if callable(asked):
            setattr(module, _ASKED, _with_host(asked))
            changed.append((module, asked))

    def restore() -> None:
        for module, asked in changed:
            setattr(module, _ASKED, asked)
        changed.clear()

    return restore


def _with_host(asked: Callable[[], list[str]]) -> Callable[[], list[str]]:
    return lambda: [*asked(), "cpu"]
