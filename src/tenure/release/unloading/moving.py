"""Tensors moved to another device: copied first, all of them, and put in place only when every copy is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.autograd import is_leaf
from tenure.capture.tensors.nested import instance_dict
from tenure.release.commit import Changes
from tenure.release.unloading.slots import Slot, other_attributes, table_of
from tenure.release.unloading.taking_apart import shell_of
from tenure.release.unloading.target import is_on
from tenure.release.unloading.wanted import is_container

DeviceOf = Callable[[str, torch.Tensor], torch.device]
"""Where a tensor goes, given what it is called."""


class Moves:
    """Copies of tensors on the devices that they go to, made once each, and the changes that put them in place."""

    def __init__(self, changes: Changes, device_of: DeviceOf) -> None:
        self._changes = changes
        self._device_of = device_of
        self._copies: dict[int, torch.Tensor] = {}
        self._parameters: dict[int, torch.Tensor] = {}
        self._originals: list[torch.Tensor] = []

    def know(self, tensor: torch.Tensor, replaced_by: torch.Tensor) -> None:
        """Have lists and attributes that refer to a parameter refer to what stands in its place."""
        self._parameters[id(tensor)] = replaced_by
        self._originals.append(tensor)

    def move_slots(self, slots: Iterable[Slot], *, gradients: bool = False) -> None:
        """Parameters keep their objects, so that an optimizer still has them; a buffer's is replaced, as torch does.
        With `gradients`, those of parameters go along."""
        done: set[int] = set()
        for slot in slots:
            copy = self.copy_of(slot.tensor, slot.name)
            if copy is slot.tensor:
                continue
            if isinstance(slot.tensor, nn.Parameter) and _takes_data(slot.tensor, copy):
                if id(slot.tensor) not in done:
                    done.add(id(slot.tensor))
                    gradient = slot.tensor.grad if gradients and is_leaf(slot.tensor) else None
                    if gradient is not None:
                        self._changes.set_gradient(slot.tensor, None)
                    self._changes.set_data(slot.tensor, copy)
                    if gradient is not None:
                        self._changes.set_gradient(slot.tensor, self.copy_of(gradient, slot.name))
            else:
                self._changes.set_entry(table_of(slot.module, slot.table), slot.key, self._as_parameter(slot, copy))

    def move_attributes(self, module: nn.Module, name: str) -> None:
        """Tensors that a module keeps beside its tables, also in lists and dicts. A result of its last call is
        detached: the value stays, its graph goes."""
        attributes = instance_dict(module) or {}
        for key, value in other_attributes(module):
            moved = self.moved(value, f"{name}.{key}")
            if moved is not value:
                self._changes.set_entry(attributes, key, moved)

    def moved(self, value: Any, name: str) -> Any:
        """`value` with its tensors moved. Lists and dicts stay the objects that they are and get other contents."""
        if isinstance(value, nn.Parameter):
            return self._parameters.get(id(value), value)  # moved in its slot, or another module's
        if isinstance(value, torch.Tensor):
            return self.copy_of(value, name)
        if not is_container(value):
            return value
        if isinstance(value, dict):
            inside: Any = {key: self.moved(item, name) for key, item in dict.items(value)}
            changed = any(inside[key] is not item for key, item in dict.items(value))
        else:
            inside = [self.moved(item, name) for item in value]
            changed = any(one is not other for one, other in zip(inside, value, strict=True))
        if not changed:
            return value
        if isinstance(value, tuple | frozenset):
            return type(value)(inside) if type(value) in (tuple, frozenset) else value
        self._changes.replace_contents(value, inside)
        return value

    def copy_of(self, tensor: torch.Tensor, name: str) -> torch.Tensor:
        """The tensor on its new device, without a graph; itself where there is nothing to do."""
        known = self._copies.get(id(tensor))
        if known is None:
            known = self._copies[id(tensor)] = self._copy(tensor, self._device_of(name, tensor))
            self._originals.append(tensor)  # or another tensor might get its id
        return known

    def _copy(self, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        if device.type == "meta":
            return shell_of(tensor)
        if tensor.device.type == "meta" or (is_on(tensor.device, device) and is_leaf(tensor)):
            return tensor
        with torch.no_grad():
            return tensor.detach().to(device)

    def _as_parameter(self, slot: Slot, copy: torch.Tensor) -> torch.Tensor:
        if not isinstance(slot.tensor, nn.Parameter) or isinstance(copy, nn.Parameter):
            return copy
        made = nn.Parameter(copy, requires_grad=slot.tensor.requires_grad)
        self._copies[id(slot.tensor)] = made
        self.know(slot.tensor, made)
        return made


def pack_again(modules: Iterable[nn.Module]) -> None:
    """Have recurrent modules lay their weights out in one piece, as cuDNN wants them; nothing for other modules."""
    for module in modules:
        if isinstance(module, nn.RNNBase):
            module.flatten_parameters()


def _takes_data(tensor: torch.Tensor, copy: torch.Tensor) -> bool:
    is_wrapped = getattr(type(tensor), "__tensor_flatten__", None) is not None
    return not is_wrapped and not tensor.is_inference() and torch._has_compatible_shallow_copy_type(tensor, copy)
