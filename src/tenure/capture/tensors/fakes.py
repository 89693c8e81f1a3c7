"""Which tensors of this process are fake, where a plan has them made so: all sizes, no memory, no values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.tensors.storages import is_fake

_FAKE_KEY = getattr(torch._C._TorchDispatchModeKey, "FAKE", None)
ASKS_FOR_DEVICE = getattr(getattr(torch.ops.prim, "device", None), "default", None)
"""What torch runs to ask a tensor of a class of its own for its device; no operation of the program."""


@dataclass(frozen=True)
class Fakes:
    """`tensor_class` is torch's class of fake tensors, `mode` our dispatch mode that makes them, `owner` the mode of
    torch's that they belong to; `notes` says what could not be told for want of values."""

    tensor_class: type[Any]
    mode: Any
    owner: Any
    notes: Callable[[], tuple[str, ...]]

    def has(self, tensor: Any) -> bool:
        """Whether a tensor is one of them: programs and torch itself make others for shapes alone."""
        return isinstance(tensor, self.tensor_class) and tensor.fake_mode is self.owner


_IN_FORCE: list[Fakes] = []


def fakes_in_force() -> Fakes | None:
    """Those of this process, None where its tensors are as the program makes them."""
    return _IN_FORCE[-1] if _IN_FORCE else None


def is_no_tensor_of_the_program(tensor: Any) -> bool:
    """Whether a tensor is fake and takes the place of none: torch makes such to learn shapes."""
    fakes = fakes_in_force()
    return is_fake(tensor) and (fakes is None or not fakes.has(tensor))


def put_in_force(fakes: Fakes) -> None:
    """From now on."""
    _IN_FORCE.append(fakes)


def take_out_of_force() -> None:
    """Of those that came last."""
    _IN_FORCE.pop()


def computes_shapes_alone() -> bool:
    """Whether a fake mode of torch's own is on: what runs under it is no part of the program's work."""
    return _FAKE_KEY is not None and torch._C._get_dispatch_mode(_FAKE_KEY) is not None
