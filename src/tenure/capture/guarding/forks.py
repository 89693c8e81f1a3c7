"""Forked children, where a recorder must go silent."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from typing import TypeVar

Owner = TypeVar("Owner")
_under_way: list[bool] = []


def fork_ourselves() -> int:
    """`os.fork`, which does not count as the program's; also when the main thread is over.

    Then Python 3.12.1 refuses ("can't fork at interpreter shutdown"), though nothing is torn down yet; 3.10.13, 3.11.7
    and 3.13.0 do not. There it is forked by C, with what `os.fork` does before and after.
    """
    _under_way.append(True)
    try:
        return os.fork()
    except RuntimeError:
        if sys.is_finalizing():
            raise
        return _fork_in_c()
    finally:
        _under_way.pop()


def _fork_in_c() -> int:
    import ctypes

    interpreter = ctypes.pythonapi
    interpreter.PyOS_BeforeFork()
    child: int = ctypes.PyDLL(None).fork()
    if child == 0:
        interpreter.PyOS_AfterFork_Child()
        return 0
    interpreter.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError("the system did not fork")
    return child


def is_ours() -> bool:
    """Within a fork: whether it is one of ours."""
    return bool(_under_way)


def call_in_forked_children(owner: Owner, method: Callable[[Owner], None]) -> None:
    """Have `method(owner)` called in every child of this process, for as long as `owner` lives. No-op without fork."""
    reference = weakref.ref(owner)

    def call() -> None:
        target = reference()
        if target is not None:
            method(target)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)
