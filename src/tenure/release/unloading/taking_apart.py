"""Modules made into shells without memory: what they own goes, and their object stays for whoever still has it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.autograd import is_leaf
from tenure.capture.heap.native_owners import data_parallel_type
from tenure.capture.tensors.nested import instance_dict
from tenure.capture.tensors.use_counts import count_native
from tenure.errors import ReleaseError
from tenure.release.commit import Changes
from tenure.release.steps.reference_counts import OF_VARIABLE
from tenure.release.storage_refs import parts_of
from tenure.release.unloading.slots import Slot, hook_tables, other_attributes, tensors_below

_OFFLOADING = ("_hf_hook", "_old_forward", "forward")
"""What accelerate (`accelerate.hooks.add_hook_to_module`) sets on a module that it offloads."""
_OF_REDUCER = ("reducer", "logger")
"""Where DistributedDataParallel keeps the C++ objects that hold its parameters and buckets for their gradients."""


class Released:
    """Stands in for the `forward` of a module that was released, and says so to whoever calls it."""

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place

    def __call__(self, *args: object, **kwargs: object) -> None:
        """Raise ReleaseError."""
        raise ReleaseError(f"{self.name} was released ({self.place}) and has no weights any more; load it anew")


def empty_slots(changes: Changes, slots: Iterable[Slot]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Parameters and buffers become `meta` tensors of the same shapes; tied ones stay tied. Each with its shell.

    The tensors themselves are not touched: a list that has one keeps its memory, and is told.
    """
    shells: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
    for slot in slots:
        if id(slot.tensor) not in shells:
            shells[id(slot.tensor)] = (slot.tensor, shell_of(slot.tensor))
        changes.set_entry(_table(slot), slot.key, shells[id(slot.tensor)][1])
    return list(shells.values())


def drop_gradients(changes: Changes, slots: Iterable[Slot]) -> int:
    """Bytes of the gradients that will be dropped."""
    num_bytes = 0
    for tensor in {id(slot.tensor): slot.tensor for slot in slots}.values():
        if is_leaf(tensor) and tensor.grad is not None:
            num_bytes += tensor.grad.numel() * tensor.grad.element_size()
            changes.set_gradient(tensor, None)
    return num_bytes


def destroy(changes: Changes, slots: Iterable[Slot]) -> None:
    """Take the memory from the tensors themselves, whoever else has them. Only where that was asked for.

    Of one that is made of several (a distributed, a quantised one) the parts lose it.
    """
    parts = (part for slot in slots for part in parts_of(slot.tensor))
    for tensor in {id(part): part for part in parts}.values():
        if tensor.device.type != "meta" and not tensor.is_inference():
            changes.set_data(tensor, torch.empty(0, dtype=_plain_dtype(tensor), device=tensor.device))


def empty_graph_leaves(tensors: list[torch.Tensor]) -> None:
    """Take the memory from parameters that only the leaf of one graph (AccumulateGrad) still has. Empties the list.

    That leaf never reads their values, only shape and layout, so they become views of a single element and a backward
    goes on as before. What a graph saved counts one owner more and is left alone. To be called when no one else of
    ours refers to the tensors.
    """
    stand_ins: dict[tuple[torch.dtype, torch.device], torch.Tensor] = {}
    while tensors:
        tensor = tensors.pop()
        num_owners, num_references = count_native(tensor)
        is_held_by_python = sys.getrefcount(tensor) - OF_VARIABLE - num_references > 0
        if num_owners != 1 or is_held_by_python or type(tensor) is not nn.Parameter or tensor._backward_hooks:
            continue
        key = (tensor.dtype, tensor.device)
        if key not in stand_ins:
            stand_ins[key] = torch.zeros(1, dtype=tensor.dtype, device=tensor.device)
        tensor.data = stand_ins[key].expand(tensor.shape)


def drop_attributes(changes: Changes, module: nn.Module) -> list[str]:
    """Remove what a module refers to beside its tables and what leads to memory; the names of what goes."""
    attributes = instance_dict(module) or {}
    gone = [name for name, _ in other_attributes(module)]
    native = _OF_REDUCER if isinstance(module, data_parallel_type() or ()) else ()
    gone += [name for name in (*_OFFLOADING[:2], *native) if name in attributes and name not in gone]
    for name in gone:
        changes.remove_entry(attributes, name)
    return gone


def drop_offloading(changes: Changes, module: nn.Module) -> bool:
    """Remove the hook by which accelerate keeps a module's weights elsewhere and brings them in for each call."""
    attributes = instance_dict(module) or {}
    if "_hf_hook" not in attributes:
        return False
    for name in _OFFLOADING:
        if name in attributes:
            changes.remove_entry(attributes, name)
    return True


def drop_hooks(changes: Changes, module: nn.Module) -> int:
    """How many hooks will be removed; handles to them stay valid and do nothing."""
    tables = list(hook_tables(module))
    for table in tables:
        changes.replace_contents(table, {})
    return sum(len(table) for table in tables)


def close(changes: Changes, module: nn.Module, name: str, place: str) -> None:
    """Have a call of the module say that it was released."""
    attributes = instance_dict(module)
    if attributes is not None:
        closed = Released(name, place)
        before = attributes.get("forward")

        def undo() -> None:
            attributes.pop("forward", None)
            if before is not None:
                attributes["forward"] = before

        changes.add(lambda: attributes.__setitem__("forward", closed), undo)


def is_closed(module: nn.Module) -> str:
    """Where the module was released; "" where it was not."""
    found = (instance_dict(module) or {}).get("forward")
    return found.place if isinstance(found, Released) else ""


def attribute_tensors(modules: Iterable[nn.Module]) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors that modules keep beside their tables, with the attribute's name."""
    for module in modules:
        for name, value in other_attributes(module):
            for tensor in tensors_below(value):
                yield f"{type(module).__name__}.{name}", tensor


def shell_of(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor without memory in the place of another: same shape, same type of number where `meta` has it."""
    try:
        shell = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    except (RuntimeError, ValueError):
        shell = torch.empty(0, device="meta")
    if isinstance(tensor, nn.Parameter):
        return nn.Parameter(shell, requires_grad=tensor.requires_grad)
    return shell


def _plain_dtype(tensor: torch.Tensor) -> torch.dtype:
    return torch.uint8 if tensor.is_quantized else tensor.dtype


def _table(slot: Slot) -> dict[str, Any]:
    table: dict[str, Any] = (instance_dict(slot.module) or {})[slot.table]
    return table
