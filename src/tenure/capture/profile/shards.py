"""Shards of tensors over several ranks (`DTensor`): which tensors are some, and what of them lies in this process."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch

_CLASSES = (
    ("torch.distributed.tensor", "DTensor"),
    ("torch.distributed._functional_collectives", "AsyncCollectiveTensor"),
)
_FAKE = ("torch._subclasses.fake_tensor", "FakeTensor")
"""How shards learn the shape of a result before they compute it."""
_LOCAL = ("_local_tensor", "elem")


def _imported(classes: Sequence[tuple[str, str]]) -> tuple[type, ...]:
    found = (getattr(sys.modules.get(module), name, None) for module, name in classes)
    return tuple(each for each in found if isinstance(each, type))


def are_sharded(types: Sequence[type]) -> bool:
    """Whether some class of an operation's arguments is one of shards: what it runs itself are plain tensors."""
    known = _imported(_CLASSES)
    return bool(known) and any(issubclass(each, known) for each in types)


def are_fake_beside_shards(types: Sequence[type]) -> bool:
    """Whether an operation of a program with shards computes shapes alone."""
    return bool(_imported(_CLASSES)) and any(issubclass(each, _imported([_FAKE])) for each in types)


def local_part(tensor: torch.Tensor) -> torch.Tensor:
    """What of a tensor lies in this process: of a shard its own part, else the tensor."""
    if not are_sharded((type(tensor),)):
        return tensor
    found: Any = next((getattr(tensor, name) for name in _LOCAL if hasattr(tensor, name)), tensor)
    return local_part(found) if found is not tensor else tensor
