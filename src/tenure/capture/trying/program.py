"""The program as options see it: its modules by name and its optimizers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.profile.storage_owners import find_modules, modules_and_optimizers


@dataclass(frozen=True)
class Program:
    """Modules with their names as `named_modules` gives them, and the optimizers that exist."""

    modules: tuple[tuple[str, torch.nn.Module], ...]
    optimizers: tuple[Any, ...]


def find_program() -> Program:
    """What there is now. Costs two looks at the type of every object on the heap."""
    names, (modules, optimizers) = find_modules(), modules_and_optimizers()
    named = [(names[id(module)], module) for module in modules if id(module) in names]
    return Program(
        tuple(sorted(named, key=lambda each: each[0])), tuple(each for each in optimizers if each.param_groups)
    )


BeforeCall = Callable[[torch.nn.Module], None]
"""Work on an outermost model that is about to be called."""


def once_for_each(work: BeforeCall) -> BeforeCall:
    """The same, once for each model and for those alone that train."""
    done: set[int] = set()

    def look(model: torch.nn.Module) -> None:
        if id(model) not in done and trains(model):
            done.add(id(model))
            work(model)

    return look


def trains(module: torch.nn.Module) -> bool:
    """Whether some of its parameters want a gradient."""
    return any(parameter.requires_grad for parameter in module.parameters())
