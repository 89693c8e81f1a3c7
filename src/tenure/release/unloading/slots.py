"""Where the modules to be released keep tensors: their parameters, buffers, gradients, and what else they refer to."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tenure.capture.tensors.nested import instance_dict
from tenure.release.unloading.wanted import below

TABLES = ("_parameters", "_buffers")
_OF_MODULES = frozenset({"_modules", *TABLES})
_NUMBERS_AND_TEXT = frozenset((bool, int, float, str, bytes, type(None), torch.dtype, torch.device))
_CONTAINERS = frozenset((dict, OrderedDict, list, tuple, set, frozenset))


@dataclass(frozen=True)
class Slot:
    """One entry of a module's table of parameters or buffers; `name` is what a person calls it from its root."""

    module: nn.Module
    table: str
    key: str
    name: str
    tensor: torch.Tensor

    def put(self, tensor: torch.Tensor) -> None:
        """Have the module refer to another tensor here. No `__setattr__` of the program runs."""
        table_of(self.module, self.table)[self.key] = tensor


def modules_below(roots: Iterable[nn.Module]) -> dict[int, tuple[nn.Module, str]]:
    """All modules in `roots`, themselves included, by id, each with its name from its root: `TextEncoder.blocks.0`.

    In the order in which `Module.modules()` goes, so that parameters stand in the order of `Module.parameters()`.
    """
    found: dict[int, tuple[nn.Module, str]] = {}
    for root in roots:
        waiting = [(root, type(root).__name__)]
        while waiting:
            module, name = waiting.pop()
            if id(module) not in found:
                found[id(module)] = (module, name)
                inside = [(child, f"{name}.{key}") for key, child in table_of(module, "_modules").items()]
                waiting += [(child, path) for child, path in reversed(inside) if child is not None]
    return found


def slots_of(modules: Iterable[tuple[nn.Module, str]]) -> Iterator[Slot]:
    """Parameters and buffers that the modules themselves have; a tied one once for each place."""
    for module, name in modules:
        for table in TABLES:
            for key, tensor in table_of(module, table).items():
                if isinstance(tensor, torch.Tensor):
                    yield Slot(module, table, key, f"{name}.{key}", tensor)


def table_of(module: nn.Module, table: str) -> dict[str, Any]:
    """A module's own dict of parameters, buffers or submodules; an empty one where it has none (yet)."""
    found = (instance_dict(module) or {}).get(table)
    return found if isinstance(found, dict) else {}


def other_attributes(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Attributes through which a module keeps memory beside its tables: results kept from the last call, caches,
    hooks of libraries that hold copies of its weights, packed weights that only C++ can read."""
    for name, value in list((instance_dict(module) or {}).items()):
        cls = type(value)
        if cls in _NUMBERS_AND_TEXT or (cls in _CONTAINERS and not value):  # most of a module's attributes
            continue
        if name not in _OF_MODULES and not _is_table_of_hooks(name, value) and _keeps_memory(value):
            yield name, value


def hook_tables(module: nn.Module) -> Iterator[dict[Any, Any]]:
    """The module's dicts of registered hooks that are not empty, those of its `state_dict` too."""
    for name, value in (instance_dict(module) or {}).items():
        if "hooks" in name and value and _is_table_of_hooks(name, value):
            yield value


def tensors_below(value: Any) -> Iterator[torch.Tensor]:
    """Tensors that an attribute leads to without passing a module."""
    return (item for item in below(value) if isinstance(item, torch.Tensor))


def has_packed_weights(module: nn.Module) -> bool:
    """Whether it keeps weights that C++ packed: their bytes are known to nobody else."""
    values = (value for _, value in other_attributes(module))
    return any(isinstance(item, torch.ScriptObject) for value in values for item in below(value))


def _is_table_of_hooks(name: str, value: object) -> bool:
    return isinstance(value, dict) and name.startswith("_") and "hooks" in name


def _keeps_memory(value: Any) -> bool:
    if not gc.is_tracked(value):  # numbers, text, and containers of nothing else
        return isinstance(value, torch.ScriptObject)
    return any(isinstance(item, torch.Tensor | nn.Module | torch.ScriptObject) for item in below(value))
