"""Drops one reference of a census inside a process. Only ever done to a copy of the program's process.

Uses the builtin types' own methods, so that no `__delattr__` or `__delitem__` of the program runs.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import gc
import sys
from collections.abc import Callable, Collection
from types import AsyncGeneratorType, CellType, CoroutineType, FrameType, FunctionType, GeneratorType
from typing import Any

import torch

from tenure.capture.guarding.classes import name_of
from tenure.capture.heap.labels import key_text
from tenure.model.experiment import Drop

_AS_VALUE = ("ITEM", "ATTRIBUTE", "GLOBAL", "INDEX", "MEMBER", "HOOK", "CONTENTS", "OTHER")


class CannotDropError(Exception):
    """Why a reference could not be dropped."""


def find_objects(addresses: Collection[int]) -> dict[int, object]:
    """The live objects at these addresses, of those that the collector or a running frame knows."""
    found = {id(item): item for item in gc.get_objects() if id(item) in addresses}
    for frame in sys._current_frames().values():
        caller: FrameType | None = frame
        while caller is not None:
            if id(caller) in addresses:
                found[id(caller)] = caller
            caller = caller.f_back
    return found


def is_of_type(item: object, type_text: str) -> bool:
    """Whether the name of an object's type in a census is this one; nodes of graphs have theirs without the module."""
    return name_of(type(item)) == type_text.rpartition(".")[2]


def drop(reference: Drop, source: Any) -> None:
    """Drop one reference of `source`; CannotDropError where Python gives no way to."""
    try:
        _drop(reference, source)
    except KeyError:
        raise CannotDropError(f"{describe(reference)} is not there any more") from None
    except (AttributeError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise CannotDropError(f"{describe(reference)}: {error}") from None


def describe(reference: Drop) -> str:
    """What a reference is, in words: `local loss`; `the storage` where the label says no more than the kind."""
    kind = reference.kind.lower()
    return f"the {kind}" if kind == reference.label.lstrip(".") else f"{kind} {reference.label}"


def _drop(reference: Drop, source: Any) -> None:
    if reference.whole:
        _empty(source)
    elif isinstance(source, FrameType | GeneratorType | CoroutineType | AsyncGeneratorType):
        _unbind_local(_frame_of(source), reference.label)
    elif isinstance(source, functools._lru_cache_wrapper):
        source.cache_clear()
    elif isinstance(source, FunctionType):
        _drop_of_function(source, reference)
    elif isinstance(source, torch.Tensor) and reference.kind in _OF_TENSOR:
        _OF_TENSOR[reference.kind](source)
    elif reference.kind in _AS_VALUE:
        _drop_value(source, reference)
    else:
        raise ValueError("such a reference cannot be dropped from outside")


def _empty(container: Any) -> None:
    if isinstance(container, functools._lru_cache_wrapper):
        container.cache_clear()
        return
    bases: tuple[Any, ...] = (collections.OrderedDict, dict, list, set, collections.deque)
    for base in bases:
        if isinstance(container, base):
            base.clear(container)
            return
    raise TypeError(f"a {type(container).__name__} cannot be emptied")


def _frame_of(source: Any) -> FrameType:
    if isinstance(source, FrameType):
        return source
    frames = (getattr(source, name, None) for name in ("gi_frame", "cr_frame", "ag_frame"))
    frame: FrameType | None = next((frame for frame in frames if frame is not None), None)
    if frame is None:
        raise ValueError("it has finished")
    return frame


def _unbind_local(frame: FrameType, name: str) -> None:
    values = frame.f_locals
    if name not in values:
        raise KeyError(name)
    values[name] = None
    if sys.version_info < (3, 13):  # from then on the mapping writes through (PEP 667)
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def _drop_of_function(function: FunctionType, reference: Drop) -> None:
    if reference.kind == "CELL":
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        cells[reference.label].cell_contents = None
    elif reference.kind == "DEFAULT":
        _drop_default(function, reference.target)
    else:
        _drop_value(function.__dict__, reference)


def _drop_default(function: FunctionType, target: int) -> None:
    positional = function.__defaults__ or ()
    if any(id(value) == target for value in positional):
        function.__defaults__ = tuple(None if id(value) == target else value for value in positional)
        return
    named = function.__kwdefaults__ or {}
    name = next(name for name, value in named.items() if id(value) == target)
    named[name] = None


def _drop_value(source: Any, reference: Drop) -> None:
    if isinstance(source, CellType):
        source.cell_contents = None
    elif isinstance(source, dict):
        _drop_item(source, reference)
    elif isinstance(source, list | collections.deque):
        base: Any = list if isinstance(source, list) else collections.deque
        base.__setitem__(source, _position(base.__iter__(source), reference.target), None)
    elif isinstance(source, set):
        set.discard(source, next(item for item in set.__iter__(source) if id(item) == reference.target))
    elif isinstance(source, type):
        type.__delattr__(source, reference.label)
    else:
        object.__delattr__(source, reference.label)


def _position(items: Any, target: int) -> int:
    return next(position for position, item in enumerate(items) if id(item) == target)


def _drop_item(table: dict[Any, Any], reference: Drop) -> None:
    base: Any = collections.OrderedDict if isinstance(table, collections.OrderedDict) else dict
    items = list(dict.items(table))
    if reference.kind == "MEMBER":
        keys = [key for key, _ in items if id(key) == reference.target]
    else:
        keys = [key for key, value in items if id(value) == reference.target]
        keys.sort(key=lambda key: reference.label not in (key_text(key), str(key) if isinstance(key, str) else ""))
        # What is bound anew in every step has another value by now: the name is the same reference.
        keys = keys or [
            key for key, _ in items if isinstance(key, str) and reference.label in (key_text(key), str(key))
        ]
    if not keys:
        raise KeyError(reference.label)
    base.__delitem__(table, keys[0])


def _forget_graph(tensor: torch.Tensor) -> None:
    tensor.detach_()


def _forget_gradient(tensor: torch.Tensor) -> None:
    tensor.grad = None


def _forget_hooks(tensor: torch.Tensor) -> None:
    tensor._backward_hooks = None


_OF_TENSOR: dict[str, Callable[[torch.Tensor], None]] = {
    "GRAD_FN": _forget_graph,
    "GRAD": _forget_gradient,
    "HOOK": _forget_hooks,
}
