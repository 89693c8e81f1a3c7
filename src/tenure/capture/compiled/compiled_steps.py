"""Optimizer steps inside compiled calls, where dynamo traces torch's optimizer hooks away.

A compiled `optimizer.step` says itself whose step it is. Of a compiled function that calls `step` the optimizers are
looked up by the names it uses; that one has stepped is read from the version counters of its parameters, which torch
counts up for each change in place, compiled or not.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

from torch.optim.optimizer import Optimizer

MAX_PARAMETERS = 64
_MAX_UNWRAPS = 8


def stepping_optimizer(function: Any) -> Any:
    """The optimizer whose bound `step` this function is, however wrapped by dynamo; None for any other function."""
    for _ in range(_MAX_UNWRAPS):
        if isinstance(function, MethodType):
            is_step = isinstance(function.__self__, Optimizer) and function.__func__.__name__ == "step"
            return function.__self__ if is_step else None
        if not isinstance(function, FunctionType):
            return None
        scheduled = _scheduled_optimizer(function)
        if scheduled is not None:
            return scheduled
        function = function.__dict__.get("__wrapped__")
    return None


def _scheduled_optimizer(function: FunctionType) -> Any:
    """A learning rate scheduler replaces its optimizer's `step` by a function that refers to the optimizer weakly."""
    if function.__name__ != "step":
        return None
    referred = (value() for value in _cell_values(function) if isinstance(value, weakref.ref))
    return next((item for item in referred if isinstance(item, Optimizer)), None)


class CompiledSteps:
    """One compiled call from its begin to its end. Holds its optimizers weakly."""

    def __init__(self, function: Any, args: Any, kwargs: Any) -> None:
        own = stepping_optimizer(function)
        self.is_step = own is not None
        found = [own] if self.is_step else list(_used_optimizers(function, args, kwargs))
        self._before = [(weakref.ref(optimizer), None if self.is_step else _version(optimizer)) for optimizer in found]
        self._counted: set[int] = set()

    def count(self, optimizer: Any) -> None:
        """This optimizer's step was seen by its hook."""
        self._counted.add(id(optimizer))

    def unseen(self) -> Iterator[Any]:
        """Optimizers that stepped in this call and were not counted; asked at its end."""
        for reference, version in self._before:
            optimizer = reference()
            if optimizer is None or id(optimizer) in self._counted:
                continue
            if version is None or version != _version(optimizer):
                yield optimizer


def _used_optimizers(function: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    """Optimizers that a function which names `step` can reach by name: arguments, closure, globals, its object."""
    owner = None
    if isinstance(function, MethodType):
        owner, function = function.__self__, function.__func__
    if not isinstance(function, FunctionType) or "step" not in function.__code__.co_names:
        return
    names = function.__code__.co_names
    values = itertools.chain(
        args or (),
        (kwargs or {}).values(),
        _cell_values(function),
        (function.__globals__[name] for name in names if name in function.__globals__),
        _attributes(owner, names),
    )
    seen: set[int] = set()
    for value in values:
        for item in _items(value):
            if isinstance(item, Optimizer) and id(item) not in seen:
                seen.add(id(item))
                yield item


def _cell_values(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        yield value


def _attributes(owner: Any, names: tuple[str, ...]) -> Iterator[Any]:
    attributes = getattr(owner, "__dict__", None)
    if type(attributes) is dict:
        yield from (attributes[name] for name in names if name in attributes)


def _items(value: Any) -> Iterator[Any]:
    yield value
    if type(value) in (list, tuple):
        yield from itertools.islice(value, MAX_PARAMETERS)
    elif type(value) is dict:
        yield from itertools.islice(value.values(), MAX_PARAMETERS)


def _version(optimizer: Any) -> int:
    parameters = (parameter for group in optimizer.param_groups for parameter in group["params"])
    trained = (item for item in parameters if item.requires_grad and not item.is_inference())
    return sum(parameter._version for parameter in itertools.islice(trained, MAX_PARAMETERS))
