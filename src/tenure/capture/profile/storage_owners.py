"""Whose the tensors of a program are, by name: its modules' parameters and buffers, gradients, optimizers' states."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import torch

from tenure.capture.guarding.classes import name_of
from tenure.capture.heap.autograd import is_leaf
from tenure.capture.heap.roles import optimizer_type
from tenure.capture.profile.shards import parts_of
from tenure.capture.tensors.nested import instance_dict, nested_tensors
from tenure.capture.tensors.storages import storage_id_of
from tenure.model.stream import Owner

Named = tuple[Any, Owner, str, str]
"""A tensor, what it is, its own name, and its module's."""


def find_modules() -> dict[int, str]:
    """The names of all modules by id, as `named_modules` gives them; below several roots the root's class before it.

    Costs a look at the type of every object on the heap. No code of the program runs.
    """
    modules = modules_and_optimizers()[0]
    children = {id(child) for module in modules for _, child in _children(module)}
    roots = [module for module in modules if id(module) not in children]
    # A metric or a loss has no parameters, and its name need not stand before those of the model.
    several = sum(1 for root in roots if _has_children_or_parameters(root)) > 1
    names: dict[int, str] = {}
    for root in roots:
        _name_below(root, name_of(type(root)) if several else "", names)
    return names


def modules_and_optimizers() -> tuple[list[Any], list[Any]]:
    """All that exist. A class is judged once, however many objects it has."""
    optimizer = optimizer_type()
    modules: list[Any] = []
    optimizers: list[Any] = []
    found: dict[int, list[Any] | None] = {}
    for item in gc.get_objects():
        cls = type(item)
        if id(cls) not in found:
            is_optimizer = optimizer is not None and issubclass(cls, optimizer)
            found[id(cls)] = modules if issubclass(cls, torch.nn.Module) else optimizers if is_optimizer else None
        kind = found[id(cls)]
        if kind is not None:
            kind.append(item)
    return modules, optimizers


def classes_of(names: dict[int, str]) -> set[type]:
    """Of these modules. Costs a look at every object on the heap."""
    return {type(item) for item in gc.get_objects() if id(item) in names}


def named_tensors(names: dict[int, str]) -> Iterator[Named]:
    """All tensors that have an owner now; of a parameter its gradient too.

    Reading a gradient may make its Python object, which lives as long as the gradient does.
    """
    parameter_names: dict[int, tuple[str, str]] = {}
    modules, optimizers = modules_and_optimizers()
    there = {id(module): module for module in modules}
    for identity in names:  # in their order, whatever the heap's is: what several modules share goes by the first
        if identity in there:
            yield from _of_module(there[identity], names[identity], parameter_names)
    for each in optimizers:
        yield from _of_optimizer(each, parameter_names)


def results_of_models() -> Iterator[Any]:
    """Tensors that have a graph: what was computed from parameters and is still held, as a variable's loss is."""
    for item in gc.get_objects():
        if issubclass(type(item), torch.Tensor) and item.requires_grad and not is_leaf(item):
            yield item


def storage_of(tensor: Any) -> int | None:
    """The identity of a tensor's storage; None where it has none."""
    try:
        return storage_id_of(tensor)
    except RuntimeError:
        return None


def _of_module(module: Any, name: str, parameter_names: dict[int, tuple[str, str]]) -> Iterator[Named]:
    attributes = instance_dict(module) or {}
    for table, owner in (("_parameters", Owner.PARAMETER), ("_buffers", Owner.BUFFER)):
        for key, tensor in list((attributes.get(table) or {}).items()):
            if not issubclass(type(tensor), torch.Tensor):
                continue
            own = f"{name}.{key}" if name else str(key)
            yield from ((part, owner, own, name) for part in parts_of(tensor))
            if owner is Owner.PARAMETER:
                parameter_names[id(tensor)] = own, name
                gradient = tensor.grad if tensor.is_leaf else None
                if gradient is not None:
                    yield from ((part, Owner.GRADIENT, own, name) for part in parts_of(gradient))


def _of_optimizer(optimizer: Any, parameter_names: dict[int, tuple[str, str]]) -> Iterator[Named]:
    for parameter, entry in list(((instance_dict(optimizer) or {}).get("state") or {}).items()):
        own, module = parameter_names.get(id(parameter), (name_of(type(optimizer)), ""))
        for key, value in list(entry.items()) if isinstance(entry, dict) else [("", entry)]:
            for tensor in nested_tensors(value):
                named = f"{own} {key}".rstrip()
                yield from ((part, Owner.OPTIMIZER_STATE, named, module) for part in parts_of(tensor))


def _children(module: Any) -> Iterator[tuple[str, Any]]:
    for name, child in list(((instance_dict(module) or {}).get("_modules") or {}).items()):
        if issubclass(type(child), torch.nn.Module):
            yield str(name), child


def _has_children_or_parameters(module: Any) -> bool:
    attributes = instance_dict(module) or {}
    return bool(attributes.get("_modules") or attributes.get("_parameters"))


def _name_below(root: Any, name: str, names: dict[int, str]) -> None:
    waiting = [(root, name)]
    while waiting:
        module, own = waiting.pop()
        if id(module) not in names:
            names[id(module)] = own
            below = [(child, f"{own}.{key}" if own else key) for key, child in _children(module)]
            waiting += reversed(below)
