"""What a program that ends without a memory stream has: its parameters, its optimizers, and what graphs still keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from tenure.analysis.heap.kept_by_graphs import kept_by_graphs
from tenure.capture.heap.census import take_census
from tenure.capture.profile.shards import parts_of
from tenure.capture.profile.storage_owners import find_modules, modules_and_optimizers, named_tensors, storage_of
from tenure.capture.tensors.nested import nested_tensors
from tenure.model.known import Known, KnownOptimizer
from tenure.model.stream import Owner

_PER_PARAMETER: dict[str, Callable[[Mapping[str, Any]], int]] = {
    "Adam": lambda group: 3 if group.get("amsgrad") else 2,
    "AdamW": lambda group: 3 if group.get("amsgrad") else 2,
    "NAdam": lambda group: 2,
    "RAdam": lambda group: 2,
    "Adamax": lambda group: 2,
    "Adadelta": lambda group: 2,
    "Adagrad": lambda group: 1,
    "SGD": lambda group: 1 if group.get("momentum") else 0,
    "RMSprop": lambda group: 1 + bool(group.get("momentum")) + bool(group.get("centered")),
}
"""How many tensors like a parameter torch's optimizers of these names keep for it (`torch/optim`)."""


def known_now() -> Known | None:
    """What there is in this process; None where it has no parameter. Costs a census and some looks at the heap."""
    modules = find_modules()
    sizes: dict[int, tuple[Owner, int, bool]] = {}
    for tensor, owner, _, _ in named_tensors(modules):
        address = storage_of(tensor)
        if address is not None and owner <= sizes.get(address, (Owner.NONE,))[0]:
            trains = tensor.requires_grad or sizes.get(address, (owner, 0, False))[2]
            sizes[address] = owner, int(tensor.untyped_storage().nbytes()), trains
    of_parameters = [(size, trains) for owner, size, trains in sizes.values() if owner is Owner.PARAMETER]
    if not of_parameters:
        return None
    return Known(
        parameter_bytes=sum(size for size, _ in of_parameters),
        trained_bytes=sum(size for size, trains in of_parameters if trains),
        buffer_bytes=sum(size for owner, size, _ in sizes.values() if owner is Owner.BUFFER),
        optimizers=tuple(map(known_optimizer, modules_and_optimizers()[1])),
        saved_bytes=_saved_bytes(modules, sizes),
    )


def known_optimizer(optimizer: Any) -> KnownOptimizer:
    """Its state as it is, or what it will be where none is there yet and the class is one of torch's."""
    name = type(optimizer).__name__
    state = [
        part
        for entry in optimizer.state.values()
        for value in (entry.values() if isinstance(entry, dict) else [entry])
        for tensor in nested_tensors(value)
        for part in parts_of(tensor)
        if part.dim()  # numbers, such as a count of steps, may stay on the host
    ]
    if optimizer.state:
        return KnownOptimizer(name, sum(_bytes_of(tensor) for tensor in state), was_there=True)
    count = _PER_PARAMETER.get(name) if type(optimizer).__module__.startswith("torch.optim") else None
    if count is None:
        return KnownOptimizer(name, None, was_there=False)
    groups = optimizer.param_groups
    size = sum(
        count(group) * sum(_bytes_of(part) for part in parts_of(parameter))
        for group in groups
        for parameter in group["params"]
        if parameter.requires_grad
    )
    return KnownOptimizer(name, size, was_there=False)


def _bytes_of(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def _saved_bytes(modules: Mapping[int, str], owned: Mapping[int, Any]) -> int | None:
    census = take_census(step=0, moment="request")
    rows = kept_by_graphs(census, set(modules))
    addresses = census.nodes.address[census.storages.node[rows]].tolist() if rows else []
    sizes = census.storages.bytes[rows].tolist() if rows else []
    return sum(size for address, size in zip(addresses, sizes, strict=True) if address not in owned) or None
