"""Where the classes are written whose objects a census names: their own methods fill them."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenure.capture.guarding.classes import bases_of, globals_of, module_of, own_of
from tenure.capture.heap.descriptions import module_file


def class_files(type_names: Iterable[str]) -> list[str]:
    """Files of imported classes and of their base classes, by dotted name; nothing for what cannot be found so.

    Runs no user code: classes are looked up in the tables of modules and of other classes. A class that a function
    defined is known by its module alone. One that says to be of a package which hands it on, as `storages.ListStorage`
    of `storages/list.py` does, is known by its methods, too.
    """
    files: dict[str, None] = {}
    for name in type_names:
        module, inside = _split(name)
        if module:
            files[module_file(module)] = None
            for base in _bases(module, inside):
                files |= dict.fromkeys((module_file(module_of(base)), *_files_of_methods(base)))
    files.pop("", None)
    return list(files)


def _files_of_methods(of: type) -> Iterator[str]:
    """Where the functions in a class's own table stand that were written in it; what is generated stands nowhere."""
    for value in own_of(of).values():
        if type(value) is types.FunctionType and value.__qualname__ == f"{of.__qualname__}.{value.__name__}":
            file = value.__code__.co_filename
            if not file.startswith("<"):
                yield file


def _split(name: str) -> tuple[str, list[str]]:
    """The longest imported module that a dotted name begins with, and what follows; "" where there is none."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:end])
        if module in sys.modules:
            return module, parts[end:]
    return "", []


def _bases(module: str, inside: list[str]) -> tuple[type, ...]:
    """The class at a place in a module and all it is made from, nearest first."""
    found: object = sys.modules[module]
    for part in inside:
        found = _inside(found).get(part)
    return bases_of(found) if issubclass(type(found), type) else ()  # type: ignore[arg-type]


def _inside(place: Any) -> Mapping[str, Any]:
    """The names in a class or a module; none in anything else."""
    if issubclass(type(place), type):
        return own_of(place)
    return globals_of(place)
