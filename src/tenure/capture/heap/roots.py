"""Roots that are neither frames nor classes: namespaces of modules, running threads, the modules themselves, and
what only the interpreter holds: handlers of signals, forks and its exit, functions that trace."""

from __future__ import annotations

import functools
import itertools
import signal
import sys
import threading
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tenure.capture.guarding.classes import globals_of, qualname_of
from tenure.capture.heap import heapwalk
from tenure.capture.heap.at_fork import functions_called_at_fork
from tenure.capture.heap.descriptions import Description, module_file
from tenure.capture.heap.frames import Frame
from tenure.capture.heap.origins import is_own_file


def find_namespaces(running: Iterable[Frame]) -> dict[int, dict[str, Any]]:
    """Every module's globals, and those that running code was given by `exec`, by id."""
    found = {id(names): names for module in list(sys.modules.values()) if (names := globals_of(module))}
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


def file_of_code(namespace: dict[str, Any], running: Iterable[Frame]) -> str:
    """The file that the newest code running at the top of a namespace goes by, or else a function that is defined
    there, as a notebook names its cells; "" where there is neither."""
    top = (each.file for each in running if each.qualname == "<module>" and each.frame.f_globals is namespace)
    functions = (each for each in list(namespace.values()) if type(each) is types.FunctionType)
    made_here = (each.__code__.co_filename for each in functions if each.__globals__ is namespace)
    return next(itertools.chain(top, made_here), "")


def describe_hidden(item: Any) -> Description:
    """Name and file of a thread or a module object."""
    if issubclass(type(item), threading.Thread):
        return Description(name=f"thread {item.name}")
    name = globals_of(item).get("__name__", "")
    return Description(name=f"module {name}", file=module_file(name))


@dataclass(frozen=True)
class HiddenRoot:
    """Something outside of all objects that keeps some alive: what a person calls it, and each object by label.

    Refers to each object once more than the interpreter does.
    """

    name: str
    held: tuple[tuple[str, object], ...]


def find_hidden_roots() -> Iterator[HiddenRoot]:
    """Handlers of signals, functions that trace or profile this thread, handlers of forks, and those of the
    interpreter's exit where they can be read. Runs no code of the program's."""
    read_handler = getattr(sys.modules.get("_signal"), "getsignal", signal.getsignal)
    for number in sorted(signal.valid_signals()):
        handler = read_handler(number)
        if callable(handler):
            yield HiddenRoot(f"signal handler of {_signal_name(number)}", (("", handler),))
    for name, function in (("sys.settrace", sys.gettrace()), ("sys.setprofile", sys.getprofile())):
        if function is not None:
            yield HiddenRoot(f"function given to `{name}`", (("", function),))
    for function, args, keywords in heapwalk.atexit_handlers():
        parts = (("", function), ("args", args), ("keywords", keywords))
        yield HiddenRoot(
            f"atexit handler {_callable_name(function)}", tuple(part for part in parts if part[1] is not None)
        )
    yield from _handlers_at_fork()


def _handlers_at_fork() -> Iterator[HiddenRoot]:
    """One for each function of the program that is called at a fork."""
    for function in functions_called_at_fork():
        plain = _plain_function(function)
        if type(plain) is not types.FunctionType or not is_own_file(plain.__code__.co_filename):
            yield HiddenRoot(f"at-fork handler {_callable_name(function)}", (("", function),))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _callable_name(item: Any) -> str:
    """The name of a function, or of what a bound method or a partial calls; asks no user's object for anything."""
    item = _plain_function(item)
    if issubclass(type(item), (types.FunctionType, types.BuiltinFunctionType)):
        return str(item.__qualname__)
    return qualname_of(type(item))


def _plain_function(item: Any) -> Any:
    """What a bound method or a partial calls in the end."""
    while issubclass(type(item), (functools.partial, types.MethodType)):
        item = item.func if issubclass(type(item), functools.partial) else item.__func__
    return item
