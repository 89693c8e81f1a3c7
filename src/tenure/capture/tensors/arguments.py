"""The tensors among what an operation is given and gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch


def tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    """Among arguments or results, one level of lists deep: deeper ones do not occur."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif type(value) in (list, tuple):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found
