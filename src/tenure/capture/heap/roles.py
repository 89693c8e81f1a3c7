"""What each tensor is for, read from the modules and optimizers that hold it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from tenure.capture.heap.kinds import is_parameter
from tenure.capture.heap.under_way import UnderWay
from tenure.capture.tensors.nested import instance_dict, nested_tensors
from tenure.model.heap import NodeKind, Role


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
    for tensor in nested_tensors(inputs):
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
        for tensor in nested_tensors(entry):
            yield tensor, Role.OPTIMIZER_STATE


def optimizer_type() -> type | None:
    """`torch.optim.Optimizer` where the program has imported it; importing it costs 65 MiB, so we never do."""
    module = sys.modules.get("torch.optim.optimizer") or sys.modules.get("torch.optim")
    found = getattr(module, "Optimizer", None)
    return found if isinstance(found, type) else None
