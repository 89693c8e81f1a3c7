"""Forked children, where a recorder must go silent."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

Owner = TypeVar("Owner")


def call_in_forked_children(owner: Owner, method: Callable[[Owner], None]) -> None:
    """Have `method(owner)` called in every child of this process, for as long as `owner` lives. No-op without fork."""
    reference = weakref.ref(owner)

    def call() -> None:
        target = reference()
        if target is not None:
            method(target)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)
