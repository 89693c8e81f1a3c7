"""A pickled snapshot as torch writes it, read straight into columns by `_snapshot_columns.c`, where that was built.

No object is made of anything in the file, and no name resolved. What is not as torch writes it is left to the reader in
Python (`snapshot_rows`), which gives back the same for all else.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from tenure.model.allocator import Blocks, Events, Frame, Segments, Snapshot
from tenure.model.heap import Ints
from tenure.store.snapshot_checks import check_places, check_sizes
from tenure.store.snapshot_rows import read_annotations, read_settings

try:
    _native: Any = import_module("tenure.store._snapshot_columns")
except ImportError:  # there was no compiler
    _native = None

_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)


def read_columns(read: Callable[[int], bytes]) -> Snapshot | None:
    """The snapshot that `read(count)` gives the bytes of; None where the reader in Python has to look at it.

    Cost, of an event with a stack of 40 frames: half a microsecond, and 150 bytes while it is read.
    """
    told = None if _native is None else _native.columns_of(read)
    if told is None:
        return None
    (segments, blocks), traces, stacks, frames, pools, labels, annotations, settings, unknown = told
    try:
        found = Snapshot(
            segments=Segments(*map(_column, segments)),
            blocks=Blocks(*map(_column, blocks)),
            traces={device: check_sizes(Events(*map(_column, trace))) for device, trace in enumerate(traces)},
            annotations=read_annotations(annotations),
            settings=read_settings(settings),
            stacks=tuple(stacks),
            frames=tuple(Frame(*each) for each in frames),
            pools=pools,
            labels=tuple(labels),
            unknown_actions=unknown,
        )
        check_places(found.segments, found.blocks)
    except _DAMAGED:
        return None
    return found


def _column(told: bytearray) -> Ints:
    return np.frombuffer(told, dtype=np.int64)
