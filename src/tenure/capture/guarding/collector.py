"""The interpreter kept quiet while our own code makes objects: what it would free or switch to is what we look at."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tenure.capture.guarding.forks import is_ours

_AT_REST: list[None] = []
"""One entry where a block under way has switched the collector off that the program had on."""
_INTERVALS: list[float] = []
"""The switch intervals that blocks under way have found."""


@contextmanager
def collector_rests() -> Iterator[None]:
    """No automatic collection inside the block; afterwards as it was before. Costs a microsecond.

    A read of a storage leaves a tracked wrapper behind, an import hundreds of objects: enough to start a collection
    that the program would not have had here, and the rings that a census has just seen are gone.
    """
    if not gc.isenabled():
        yield
        return
    _AT_REST.append(None)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        _AT_REST.clear()


@contextmanager
def interpreter_rests() -> Iterator[None]:
    """No automatic collection, and no switch to another thread while we name what a walk has found."""
    with collector_rests():
        interval = sys.getswitchinterval()
        _INTERVALS.append(interval)
        sys.setswitchinterval(60.0)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            del _INTERVALS[-1:]


def _give_back_in_child() -> None:
    """In a child that another thread forked meanwhile, where nobody comes to the end of the block. Our own copies keep
    what waits for the collector."""
    if is_ours():
        return
    if _INTERVALS:
        sys.setswitchinterval(_INTERVALS[0])
        _INTERVALS.clear()
    if _AT_REST:
        _AT_REST.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_back_in_child)
