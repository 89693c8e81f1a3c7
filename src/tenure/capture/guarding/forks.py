"""Forked children, where a recorder must go silent."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

Owner = TypeVar("Owner")
_under_way: list[bool] = []


def fork_ourselves() -> int:
    """`os.fork`, which does not count as the program's."""
    _under_way.append(True)
    try:
        return os.fork()
    finally:
        _under_way.pop()


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
