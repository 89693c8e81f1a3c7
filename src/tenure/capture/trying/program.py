"""The program as options see it: its modules by name and its optimizers."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.heap.roles import optimizer_type
from tenure.capture.profile.storage_owners import find_modules


@dataclass(frozen=True)
class Program:
    """Modules with their names as `named_modules` gives them, and the optimizers that exist."""

    modules: tuple[tuple[str, torch.nn.Module], ...]
    optimizers: tuple[Any, ...]


def find_program() -> Program:
    """What there is now. Costs two looks at the type of every object on the heap."""
    names, optimizer = find_modules(), optimizer_type()
    modules: list[tuple[str, torch.nn.Module]] = []
    optimizers: list[Any] = []
    for item in gc.get_objects():
        if id(item) in names and issubclass(type(item), torch.nn.Module):
            modules.append((names[id(item)], item))
        elif optimizer is not None and issubclass(type(item), optimizer) and item.param_groups:
            optimizers.append(item)
    return Program(tuple(sorted(modules, key=lambda each: each[0])), tuple(optimizers))


def trains(module: torch.nn.Module) -> bool:
    """Whether some of its parameters want a gradient."""
    return any(parameter.requires_grad for parameter in module.parameters())
