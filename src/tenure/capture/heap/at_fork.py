"""What the program asked to be called when it forks (`os.register_at_fork`), which Python lists to nobody."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any


def _mark() -> None:
    """Does nothing; registered once, it makes the interpreter's own lists known by what they contain."""


class _Lists:
    """The interpreter's lists of such functions, once they were looked for."""

    found: tuple[list[Any], ...] | None = None


def functions_called_at_fork() -> list[Callable[..., Any]]:
    """All of them, the program's and others', in order of registration; none on systems that cannot fork.

    The first call asks the collector for what refers to one object, which costs less than a collection. The program's
    own objects: drop the list before anyone counts references.
    """
    if _Lists.found is None:
        _Lists.found = _find_lists()
    return [function for registered in _Lists.found for function in registered if function is not _mark]


def _find_lists() -> tuple[list[Any], ...]:
    if not hasattr(os, "register_at_fork"):
        return ()
    os.register_at_fork(before=_mark, after_in_parent=_mark, after_in_child=_mark)
    return tuple(each for each in gc.get_referrers(_mark) if type(each) is list and all(map(callable, each)))
