"""The interpreter kept quiet while our own code makes objects: what it would free or switch to is what we look at."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_AS_FOUND: list[tuple[bool, float]] = []
"""The collector and the switch interval as the outermost block under way found them."""


@contextmanager
def collector_rests() -> Iterator[None]:
    """No automatic collection inside the block; afterwards as it was before. Costs about a microsecond.

    A read of a storage leaves a tracked wrapper behind, an import hundreds of objects: enough to start a collection
    that the program would not have had here, and the rings that a census has just seen are gone.
    """
    found = gc.isenabled(), sys.getswitchinterval()
    _AS_FOUND.append(found)
    gc.disable()
    try:
        yield
    finally:
        if found[0]:
            gc.enable()
        _let_go_of(found)


@contextmanager
def interpreter_rests() -> Iterator[None]:
    """No automatic collection, and no switch to another thread while we name what a walk has found."""
    with collector_rests():
        interval = sys.getswitchinterval()
        sys.setswitchinterval(60.0)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)


def _let_go_of(found: tuple[bool, float]) -> None:
    if found in _AS_FOUND:
        _AS_FOUND.remove(found)


def _give_back_in_child() -> None:
    """In a child that another thread forked meanwhile, where nobody comes to the end of the block."""
    if _AS_FOUND:
        enabled, interval = _AS_FOUND[0]
        _AS_FOUND.clear()
        sys.setswitchinterval(interval)
        if enabled:
            gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_back_in_child)
