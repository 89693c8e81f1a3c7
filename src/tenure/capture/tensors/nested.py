"""Tensors inside of whatever a program hands on: containers in containers, and objects that have them as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

_MOST_LOOKED_AT = 10_000


def nested_tensors(value: object) -> Iterator[torch.Tensor]:
    """Tensors inside nested builtin containers and plain instances: the arguments of a module call."""
    stack: list[object] = [value]
    seen: set[int] = set()
    while stack and len(seen) < _MOST_LOOKED_AT:
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


def instance_dict(owner: object) -> dict[str, Any] | None:
    """The `__dict__` of an instance as the interpreter keeps it; None where a class puts something else there."""
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None
    return attributes if issubclass(type(attributes), dict) else None
