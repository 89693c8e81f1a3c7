"""What each tensor is for, read from the modules and optimizers that hold it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from tenure.capture.heap.kinds import is_parameter
from tenure.capture.heap.labels import instance_dict
from tenure.capture.heap.under_way import UnderWay
from tenure.model.heap import NodeKind, Role

_MAX_INPUTS = 10_000


def add_roles(census: UnderWay, *, inputs: object, optimizers: Sequence[object]) -> None:
    """Says of the storages what they are for: by modules and optimizers on the heap, the `optimizers` given and the
    `inputs` of the call that is being entered."""
    optimizer = optimizer_type()
    known = list(optimizers)
    for item, kind in zip(census.walk.nodes, census.kinds, strict=True):
        if kind is NodeKind.TENSOR and is_parameter(item):
            census.add_role(item, Role.PARAMETER)
        elif kind is NodeKind.OBJECT and issubclass(type(item), torch.nn.Module):
            for tensor, role in roles_from_module(item):
                census.add_role(tensor, role)
        elif kind is NodeKind.OBJECT and optimizer is not None and issubclass(type(item), optimizer):
            known.append(item)
    for each in known:
        for tensor, role in roles_from_optimizer(each):
            census.add_role(tensor, role)
    for tensor in tensors_in(inputs):
        census.add_role(tensor, Role.INPUT)


def roles_from_module(module: torch.nn.Module) -> Iterator[tuple[torch.Tensor, Role]]:
    """A module's own parameters and buffers (not its children's)."""
    attributes = instance_dict(module) or {}
    for table, role in (("_parameters", Role.PARAMETER), ("_buffers", Role.BUFFER)):
        for tensor in list((attributes.get(table) or {}).values()):
            if issubclass(type(tensor), torch.Tensor):
                yield tensor, role


def roles_from_optimizer(optimizer: Any) -> Iterator[tuple[torch.Tensor, Role]]:
    """Every tensor in an optimizer's `state`."""
    state = (instance_dict(optimizer) or {}).get("state") or {}
    for entry in list(state.values()):
        for tensor in tensors_in(entry):
            yield tensor, Role.OPTIMIZER_STATE


def optimizer_type() -> type | None:
    """`torch.optim.Optimizer` where the program has imported it; importing it costs 65 MiB, so we never do."""
    module = sys.modules.get("torch.optim.optimizer") or sys.modules.get("torch.optim")
    found = getattr(module, "Optimizer", None)
    return found if isinstance(found, type) else None


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """Tensors inside nested builtin containers and plain instances: the arguments of a module call."""
    stack: list[object] = [value]
    seen: set[int] = set()
    while stack and len(seen) < _MAX_INPUTS:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if issubclass(type(item), torch.Tensor):
            yield item
        else:
            stack.extend(_inside(item))


def _inside(item: Any) -> Iterable[object]:
    if issubclass(type(item), dict):
        return list(dict.values(item))
    if issubclass(type(item), list):
        return list(list.__iter__(item))
    if issubclass(type(item), tuple):
        return list(tuple.__iter__(item))
    if issubclass(type(item), (torch.nn.Module, type)):
        return ()
    attributes = instance_dict(item)
    return list(attributes.values()) if type(attributes) is dict else ()
