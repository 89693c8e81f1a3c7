"""Stacks that came from the same lines of Python count as one: frames of C++ below them differ by operator."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tenure.allocator.torch_frames import is_python
from tenure.model.allocator import NO_STACK, Frame, Snapshot
from tenure.model.heap import Ints

_NODE = re.compile(r"(\w+Backward\d*)::apply")


def call_sites(snapshot: Snapshot) -> Ints:
    """For each stack the first one of the same lines; where it has none, of the same node of autograd. The last row is
    for NO_STACK, and says that."""
    first: dict[object, int] = {}
    found = []
    for number, rows in enumerate(snapshot.stacks):
        python = tuple(row for row in rows if is_python(snapshot.frames[row]))
        key = python or autograd_node([snapshot.frames[row] for row in rows])
        found.append(first.setdefault(key, number))
    return np.array([*found, NO_STACK], dtype=np.int64)


def autograd_node(frames: Sequence[Frame]) -> str:
    """The operator whose backward asked, where frames of C++ tell; else ""."""
    told = filter(None, (_NODE.search(frame.function) for frame in frames))
    match = next(told, None)
    return "" if match is None else match.group(1)
