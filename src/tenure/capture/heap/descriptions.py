"""What a census says of one Python object: its type, where its code stands, how long it is, what bounds it."""

from __future__ import annotations

import collections
import functools
import sys
import types
from dataclasses import dataclass
from typing import Any

from tenure.capture.guarding.classes import globals_of, module_of, qualname_of
from tenure.capture.heap import heapwalk
from tenure.capture.tensors.nested import instance_dict

_BOUNDS = (
    "maxlen", "capacity", "max_size", "maxsize", "max_len", "max_length", "max_items", "max_entries",
    "buffer_size", "cache_size", "window", "window_size", "limit", "size_limit", "history_size", "keep", "keep_last",
)  # fmt: skip
"""Attributes by which people bound a container of their own."""

_SIZED = (dict, list, tuple, set, frozenset, collections.deque)


@dataclass(frozen=True)
class Description:
    """Columns of a node that depend on the object itself. -1 and "" mean none."""

    name: str = ""
    file: str = ""
    line: int = 0
    length: int = -1
    bound: int = -1


_NOTHING = Description()


def type_name(cls: type) -> str:
    """`module.QualName`; builtins without their module."""
    module = module_of(cls)
    return qualname_of(cls) if module in ("", "builtins") else f"{module}.{qualname_of(cls)}"


def describe(item: Any) -> Description:
    """The description of an object that is not a tensor; runs no user code."""
    cls = type(item)
    if issubclass(cls, _SIZED):
        base = next(base for base in _SIZED if issubclass(cls, base))
        bound = item.maxlen if issubclass(cls, collections.deque) else None
        return Description(length=base.__len__(item), bound=-1 if bound is None else bound)
    if issubclass(cls, types.FunctionType):
        return _of_code(item.__qualname__, item.__code__, item.__code__.co_firstlineno)
    if issubclass(cls, types.MethodType):
        return _of_method(item)
    if cls is functools.partial:
        return _of_partial(item)
    if issubclass(cls, (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)):
        return _of_suspended(item)
    if issubclass(cls, types.FrameType):
        return _of_code(qualified_name(item.f_code), item.f_code, item.f_lineno or 0)
    if issubclass(cls, functools._lru_cache_wrapper):
        return _of_cache(item)
    if issubclass(cls, type):
        return Description(name=qualname_of(item), file=module_file(module_of(item)))
    return _of_instance(item)


def qualified_name(code: types.CodeType) -> str:
    """`co_qualname` where there is one (3.11), else the plain name."""
    return str(getattr(code, "co_qualname", code.co_name))


def module_file(name: object) -> str:
    """The file of an imported module; "" for built-in ones."""
    module = sys.modules.get(name) if isinstance(name, str) else None
    file = globals_of(module).get("__file__")
    return file if isinstance(file, str) else ""


def _of_code(name: str, code: types.CodeType, line: int) -> Description:
    return Description(name=name, file=code.co_filename, line=line)


def _of_method(item: types.MethodType) -> Description:
    """The function's name alone: whose code a method is follows from what it is bound to."""
    return Description(name=item.__func__.__qualname__) if type(item.__func__) is types.FunctionType else _NOTHING


def _of_partial(item: functools.partial[Any]) -> Description:
    """The name of what it calls, which itself may lead to no tensor, and so be in no census."""
    called = type(item.func)
    if issubclass(called, (types.FunctionType, types.MethodType)):
        return Description(name=describe(item.func).name)
    return _NOTHING


def _of_suspended(item: Any) -> Description:
    for prefix in ("gi", "cr", "ag"):
        if hasattr(item, f"{prefix}_code"):
            code, frame = getattr(item, f"{prefix}_code"), getattr(item, f"{prefix}_frame")
            return _of_code(item.__qualname__, code, frame.f_lineno if frame is not None else code.co_firstlineno)
    return _NOTHING


def _of_cache(item: functools._lru_cache_wrapper[Any]) -> Description:
    info = item.cache_info()
    where = describe(item.__wrapped__) if type(item.__wrapped__) is types.FunctionType else _NOTHING
    bound = -1 if info.maxsize is None else info.maxsize
    return Description(name=where.name, file=where.file, line=where.line, length=info.currsize, bound=bound)


def _of_instance(item: object) -> Description:
    attributes = heapwalk.instance_values(item)
    named = dict(attributes) if attributes is not None else instance_dict(item)
    if not named:
        return _NOTHING
    defaults = named.get("defaults")
    for settings in (named, defaults if type(defaults) is dict else {}):  # an optimizer's are there
        for name in _BOUNDS:
            value = settings.get(name)
            if type(value) is int and value > 0:
                return Description(bound=value)
    return _NOTHING
