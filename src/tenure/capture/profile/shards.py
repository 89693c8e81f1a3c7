"""Shards of tensors over several ranks (`DTensor`), and others that stand for some: what lies in this process."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch

from tenure.capture.tensors.storages import sparse_parts

_CLASSES = (
    ("torch.distributed.tensor", "DTensor"),
    ("torch.distributed._functional_collectives", "AsyncCollectiveTensor"),
)
_FAKE = ("torch._subclasses.fake_tensor", "FakeTensor")
"""How shards learn the shape of a result before they compute it."""


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


def parts_of(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The plain tensors that one stands for: a shard's own part, codes and scales of a quantized one, indices and
    values of a sparse one, else itself."""
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is None:
        return sparse_parts(tensor) or [tensor]
    held = (getattr(tensor, name) for name in flatten()[0])  # a mesh of devices may be among them
    return [part for each in held if isinstance(each, torch.Tensor) for part in parts_of(each)]
