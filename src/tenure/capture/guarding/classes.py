"""Classes as the interpreter keeps them, whatever their metaclass makes of a question: no code of the program runs.

Whether an object is of a kind is asked by `issubclass(type(item), kind)`, never by `isinstance`, which asks the object
for its `__class__`; and tables by class go by `id(cls)`, as a metaclass may have a `__hash__` and an `__eq__`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

bases_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
"""The class and all that it is made from, nearest first."""
own_of: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
"""What stands in the body of the class itself."""
name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
qualname_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__
dict_offset_of: Callable[[type], int] = type.__dict__["__dictoffset__"].__get__
"""Not 0 where instances have a `__dict__`."""
_module_of: Callable[[type], object] = type.__dict__["__module__"].__get__


def globals_of(module: object) -> dict[str, Any]:
    """The names in a module, none of anything else. A module that loads lazily is not made to: it would run code that
    the program has not run."""
    if not issubclass(type(module), types.ModuleType):
        return {}
    found: dict[str, Any] = types.ModuleType.__getattribute__(module, "__dict__")
    return found


def module_of(cls: type) -> str:
    """Name of the module of a class; "" where `__module__` is something else, as in Cython's type of functions."""
    try:
        module = _module_of(cls)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def found_in(cls: type, name: str) -> object:
    """What the class or the nearest of its bases has under a name, as it stands there; None where none has it."""
    for base in bases_of(cls):
        own = own_of(base)
        if name in own:
            return own[name]
    return None


def is_made_from(cls: type, base: type) -> bool:
    """`issubclass(cls, base)` for a `base` that may be abstract: such ones compare and hash the classes asked about."""
    return type.__subclasscheck__(base, cls)
