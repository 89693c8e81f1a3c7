"""Reads and rebinds variables of a function that is running. Imports no torch.

From Python 3.13 on `frame.f_locals` writes through (PEP 667). Before, the variables are written by the interpreter's
own `PyFrame_LocalsToFast`, and the dictionary that Python makes for it is emptied again, or it would keep every
variable alive until the function ends.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Collection
from inspect import CO_OPTIMIZED
from types import FrameType

from tenure.capture.heap.frames import _heapwalk, locals_of
from tenure.release.steps.bound_names import BoundNames

WRITES_THROUGH = sys.version_info >= (3, 13)
_HELD_BY_FRAME_AND_US = 3
"""Bound and counted in one line: between lines a trace function may run, and then this function's own `f_locals` has
the variable too."""
_PLAIN = frozenset((int, float, bool, str, bytes, type(None)))

if not WRITES_THROUGH:
    # An object of our own: the one in ctypes.pythonapi is everybody's.
    _Writer = ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.c_int)
    _write_to_frame = _Writer(("PyFrame_LocalsToFast", ctypes.pythonapi))


_read_native = getattr(_heapwalk, "frame_values", None)
"""The C walker's own function where there is one: it leaves nothing behind in any frame."""


def read_names(frame: FrameType, names: BoundNames, leave_out: Collection[str] = ()) -> dict[str, object]:
    """The values of those names that are bound, numbers, strings and None left out."""
    found: dict[str, object] = {}
    if names.local:
        found = _read_in_python(frame, names) if _read_native is None else _read_native(frame, names.local)
    for name in names.in_namespace:
        space = _namespace_of(frame, name)
        if name in space and type(space[name]) not in _PLAIN:
            found[name] = space[name]
    for name in leave_out:
        found.pop(name, None)
    return found


def read_variables(frame: FrameType) -> list[tuple[str, object]]:
    """All variables of a function; nothing where reading them would leave something behind."""
    return locals_of(frame)


def rebind_names(frame: FrameType, values: dict[str, object], names: BoundNames) -> str:
    """Bind these names anew; "" when done, otherwise why it could not be done, and then nothing was changed."""
    if not names.in_namespace:
        return _rebind_local(frame, values, names)
    local = {name: value for name, value in values.items() if name in names.local}
    reason = _rebind_local(frame, local, names) if local else ""
    if not reason:
        for name in values.keys() - local.keys():
            _namespace_of(frame, name)[name] = values[name]
    return reason


def _namespace_of(frame: FrameType, name: str) -> dict[str, object]:
    """Of a module, a class body or `exec` the frame's own namespace; of a function its module's."""
    return frame.f_globals if frame.f_code.co_flags & CO_OPTIMIZED else frame.f_locals


def _read_in_python(frame: FrameType, names: BoundNames) -> dict[str, object]:
    """Without the C walker."""
    found: dict[str, object] = {}
    for name, value in _all_in_python(frame, names):  # a comprehension would be a function, up to Python 3.11
        if name in names.local and type(value) not in _PLAIN:
            found[name] = value
    return found


def _all_in_python(frame: FrameType, names: BoundNames) -> list[tuple[str, object]]:
    """What a census leaves alone for caution's sake too, where it is known to be harmless here."""
    found = locals_of(frame)
    if found or WRITES_THROUGH or names.asks_for_locals or not frame.f_code.co_flags & CO_OPTIMIZED:
        return found
    if sys.getrefcount(namespace := frame.f_locals) > _HELD_BY_FRAME_AND_US:
        return []
    found = list(namespace.items())
    namespace.clear()
    return found


def _rebind_local(frame: FrameType, values: dict[str, object], names: BoundNames) -> str:
    if WRITES_THROUGH:
        frame.f_locals.update(values)
        return ""
    if names.asks_for_locals:
        return "the function reads its own locals(), which would be overwritten"
    if sys.getrefcount(namespace := frame.f_locals) > _HELD_BY_FRAME_AND_US:
        return "somebody holds the function's locals(), which would be overwritten"
    namespace.update(values)
    _write_to_frame(frame, 0)
    namespace.clear()
    return ""
