"""Where the program put tensors by its own words: on the device, or copied back to the host.

On a machine without a device both are the host's memory, and `to(device)` does nothing there; what it would have done
is kept here, by storage, for the watch of a plan.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from tenure.capture.tensors.fakes import fakes_in_force
from tenure.capture.tensors.storages import handles_operations, storage_id_of


class Places:
    """Storages that were put somewhere, for as long as they live; `watching` is told of each from now on.

    `knows_device` says for a tensor of a watched step whether operations were seen to use it together with what lies on
    the device. `says_where` is true from when the program has said of a tensor outside of its models that it is to lie
    there: of what it says nothing then the host is meant.
    """

    def __init__(self) -> None:
        self.watching: Callable[[Any, bool], None] = _tell_nobody
        self.knows_device: Callable[[Any], bool] = _know_nothing
        self.says_where = False
        self._known: dict[int, tuple[_Death, bool]] = {}

    def put(self, tensor: Any, on_device: bool) -> None:
        """This tensor's storage lies there now."""
        if has_place(tensor):
            storage = tensor.untyped_storage()
            address = int(storage._cdata)
            self._known[address] = _Death(storage, self._forget, address), on_device
            self.watching(tensor, on_device)

    def of(self, tensor: Any) -> bool | None:
        """Whether it was put on the device; None where nothing was said."""
        known = self._known.get(storage_id_of(tensor))
        return known[1] if known is not None else None

    def is_on_device(self, tensor: Any) -> bool:
        """Whether it lies on the device as far as is known now: put there, or computed from parameters."""
        said = self.of(tensor)
        if said is not None:
            return said
        return bool(tensor.requires_grad) or isinstance(tensor, torch.nn.Parameter) or self.knows_device(tensor)

    def stop_watching(self) -> None:
        """Tell nobody from now on."""
        self.watching, self.knows_device = _tell_nobody, _know_nothing

    def _forget(self, reference: Any) -> None:
        known = self._known.get(reference.address)
        if known is not None and known[0] is reference:
            del self._known[reference.address]


class _Death(weakref.ref):  # type: ignore[type-arg]
    """A weak reference to a storage that knows the storage's address."""

    __slots__ = ("address",)
    address: int

    def __new__(cls, storage: Any, callback: Any, address: int) -> _Death:
        made = super().__new__(cls, storage, callback)
        made.address = address
        return made

    def __init__(self, storage: Any, callback: Any, address: int) -> None:
        super().__init__(storage, callback)  # type: ignore[call-arg]


def has_place(tensor: Any) -> bool:
    """Whether it is an ordinary tensor, with one storage of its own, on the host."""
    if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided or tensor.device.type != "cpu":
        return False
    fakes = fakes_in_force()
    is_ordinary = not handles_operations(type(tensor)) or (fakes is not None and fakes.has(tensor))
    return is_ordinary and not tensor.is_quantized


def _tell_nobody(_: Any, __: bool) -> None:
    pass


def _know_nothing(_: Any) -> bool:
    return False


PLACES = Places()
"""Those of this process."""
