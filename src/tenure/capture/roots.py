"""Roots that are neither frames nor classes: namespaces of modules, running threads, the modules themselves."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Iterable
from typing import Any

from tenure.capture.descriptions import Description, module_file
from tenure.capture.frames import Frame
from tenure.capture.origins import is_own_file


def find_namespaces(running: Iterable[Frame]) -> dict[int, dict[str, Any]]:
    """Every module's globals, and those that running code was given by `exec`, by id."""
    found = {id(vars(module)): vars(module) for module in list(sys.modules.values())
             if isinstance(module, types.ModuleType)}  # fmt: skip
    for frame in running:
        found.setdefault(id(frame.frame.f_globals), frame.frame.f_globals)
    return found


def is_ours(namespace: dict[str, Any]) -> bool:
    """Whether these are the globals of one of Tenure's modules."""
    return is_own_file(file_of_namespace(namespace))


def file_of_namespace(namespace: dict[str, Any]) -> str:
    """The file a module came from; "" for built-in ones and for `exec`."""
    file = namespace.get("__file__")
    return file if isinstance(file, str) else ""


def describe_hidden(item: object) -> Description:
    """Name and file of a thread or a module object."""
    if isinstance(item, threading.Thread):
        return Description(name=f"thread {item.name}")
    name = item.__dict__.get("__name__", "") if isinstance(item, types.ModuleType) else ""
    return Description(name=f"module {name}", file=module_file(name))
