"""What the program asked to be called when it forks (`os.register_at_fork`), which Python lists to nobody."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from tenure.capture.heap.origins import is_library_file


def _mark() -> None:
    """Does nothing; registered once, it makes the interpreter's own lists known by what they contain."""


class _Lists:
    """The interpreter's lists of such functions, once they were looked for."""

    found: tuple[list[Any], ...] = ()
    num_frozen = -1
    """How many objects were frozen (`gc.freeze`) when they were looked for: among these they are not found."""


def functions_called_at_fork() -> list[Callable[..., Any]]:
    """All of them, the program's and others', in order of registration; none on systems that cannot fork.

    The first call asks the collector for what refers to one object, which costs less than a collection; where it found
    none, for they were frozen, a later one does once others are. The program's own objects: drop the list before anyone
    counts references.
    """
    return [function for registered in _lists() for function in registered if function is not _mark]


@contextmanager
def without_the_programs_functions() -> Iterator[None]:
    """For a fork that the program did not ask for: none of its own functions is called, of which it would know.
    Libraries' are, for they see to locks."""
    lists = _lists()
    found = [list(each) for each in lists]
    for each in lists:
        each[:] = [function for function in each if not _is_the_programs(function)]
    try:
        yield
    finally:
        for each, functions in zip(lists, found, strict=True):
            each[:] = functions


def _is_the_programs(function: object) -> bool:
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and not is_library_file(code.co_filename)


def _lists() -> tuple[list[Any], ...]:
    if not _Lists.found and _Lists.num_frozen != gc.get_freeze_count():
        _Lists.found = _find_lists(marked=_Lists.num_frozen >= 0)
        _Lists.num_frozen = gc.get_freeze_count()
    return _Lists.found


def _find_lists(*, marked: bool) -> tuple[list[Any], ...]:
    if not hasattr(os, "register_at_fork"):
        return ()
    if not marked:
        os.register_at_fork(before=_mark, after_in_parent=_mark, after_in_child=_mark)
    return tuple(each for each in gc.get_referrers(_mark) if type(each) is list and all(map(callable, each)))
