"""Running frames of all threads and their local variables, read without leaving anything behind.

Before Python 3.13 reading `frame.f_locals` keeps the locals alive until the frame ends, and clearing it again can
wipe the program's own variables. The C walk reads them directly; without it a frame is read only where that is
harmless, and `Frame.readable` says where it was not.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import CO_OPTIMIZED, CO_VARARGS
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any

try:
    _heapwalk: Any = import_module("tenure.capture.heap._heapwalk")
except ImportError:
    _heapwalk = None

from tenure.capture.guarding.own_threads import OWN_THREADS
from tenure.capture.heap.origins import is_own_file
from tenure.capture.system.limits import soft_limit

Locals = list[tuple[str, object]]
Suspended = Generator[Any, Any, Any] | Coroutine[Any, Any, Any] | AsyncGenerator[Any, Any]

_LEAVES_NOTHING = sys.version_info >= (3, 13)
_TELLS_OF_LOCALS = frozenset(("locals", "vars", "dir", "eval", "exec", "f_locals"))
_DEFAULT_STACKS = {"darwin": 512 * 1024, "win32": 1024 * 1024}


@dataclass(frozen=True)
class Frame:
    """One running frame. `line` is the line it executes now, `first_line` where its code begins.

    `locals` are local, cell and free variables that are bound. A module's, class body's or `exec`'s frame has
    none: its variables live in a namespace. `readable` is False where reading was not safe, so that `locals`
    says nothing.
    """

    frame: FrameType
    thread: int
    qualname: str
    file: str
    line: int
    first_line: int
    locals: Locals
    readable: bool


def running_frames() -> list[Frame]:
    """The frames of all threads, innermost first, each once; Tenure's own are left out.

    Holds the frames and the values of their variables: drop it before anyone counts references.
    """
    seen: set[int] = set()
    found: list[Frame] = []
    for thread, innermost in sys._current_frames().items():
        if thread in OWN_THREADS:
            continue
        tracing = _is_tracing(thread, innermost)
        unsafe: FrameType | None = None
        for frame in _callers(innermost):
            if id(frame) in seen or is_own_file(frame.f_code.co_filename):
                continue
            seen.add(id(frame))
            values = None if tracing or frame is unsafe else _read(frame)
            if values and not (_heapwalk is not None or _LEAVES_NOTHING):
                unsafe = _traced_by(frame, dict(values))
            found.append(_describe(frame, thread, values))
    del innermost, frame, unsafe  # one of them is this very frame, which would keep itself alive
    return found


def is_running(code: CodeType) -> bool:
    """Whether some thread is inside a call of this code."""
    return any(frame.f_code is code for innermost in sys._current_frames().values() for frame in _callers(innermost))


def locals_of(frame: FrameType) -> Locals:
    """Local, cell and free variables of a frame that are bound.

    Empty for the frames of modules, class bodies and `exec`, whose variables live in a namespace, and where
    reading was not safe.
    """
    return [] if _is_tracing(threading.get_ident(), frame) else _read(frame) or []


def suspended_locals(suspended: Suspended) -> Locals:
    """Variables of a generator, coroutine or asynchronous generator that waits or has not begun.

    Empty once it has finished, and where reading was not safe.
    """
    if isinstance(suspended, GeneratorType):
        frame = suspended.gi_frame
    elif isinstance(suspended, CoroutineType):
        frame = suspended.cr_frame
    elif isinstance(suspended, AsyncGeneratorType):
        frame = suspended.ag_frame
    else:
        frame = None
    return [] if frame is None else locals_of(frame)


def smallest_stack_bytes() -> int:
    """Bytes of the smallest C stack in the process, running threads and those to come.

    Where a platform does not say, its default for threads is taken.
    """
    sizes = [_DEFAULT_STACKS.get(sys.platform, 8 * 1024 * 1024), *_limits()]
    if _heapwalk is not None:
        sizes += [_heapwalk.thread_stack_bytes(thread) for thread in _later_threads()]
    return min(size for size in sizes if size)


def _later_threads() -> list[int]:
    """All Python threads but ours, and the process's first: its stack is the limit itself, and slow to ask for."""
    main = threading.main_thread()
    first = main.ident if main.native_id == os.getpid() else None
    return [thread for thread in sys._current_frames() if thread != first and thread not in OWN_THREADS]


def _limits() -> Iterator[int]:
    # Asking also sets it back to the platform's default.
    size = threading.stack_size()
    threading.stack_size(size)
    yield size
    soft = soft_limit("stack size")
    if soft is not None:
        yield soft


def _callers(innermost: FrameType) -> Iterator[FrameType]:
    frame: FrameType | None = innermost
    while frame is not None:
        yield frame
        frame = frame.f_back


def _describe(frame: FrameType, thread: int, values: Locals | None) -> Frame:
    code = frame.f_code
    return Frame(
        frame=frame,
        thread=thread,
        qualname=getattr(code, "co_qualname", code.co_name),
        file=code.co_filename,
        line=frame.f_lineno or code.co_firstlineno,
        first_line=code.co_firstlineno,
        locals=values or [],
        readable=values is not None,
    )


def _is_tracing(thread: int, innermost: FrameType) -> bool:
    """Whether this thread may be inside a trace or profile function, where touching `f_locals` unbinds variables.

    Other threads cannot be asked; what `threading` would install in them, and frames that are being traced, can.
    """
    if _heapwalk is not None or _LEAVES_NOTHING:
        return False
    if thread == threading.get_ident():
        watched = sys.gettrace() is not None or sys.getprofile() is not None
    else:
        watched = threading.gettrace() is not None or threading.getprofile() is not None
    return watched or any(frame.f_trace is not None for frame in _callers(innermost))


def _traced_by(frame: FrameType, values: dict[str, object]) -> FrameType | None:
    """The caller, when it is among the arguments: then `frame` may be a trace function that was called for it."""
    code = frame.f_code
    takes_more = bool(code.co_flags & CO_VARARGS)
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + takes_more]:
        value = values.get(name)
        if any(item is frame.f_back for item in (value if isinstance(value, tuple) else (value,))):
            return frame.f_back
    return None


def _read(frame: FrameType) -> Locals | None:
    if not frame.f_code.co_flags & CO_OPTIMIZED:
        return []
    if _heapwalk is not None:
        values: Locals = _heapwalk.frame_locals(frame)
        return values
    if _LEAVES_NOTHING:
        return list(frame.f_locals.items())
    return None if _asks_for_locals(frame.f_code) else _read_and_clear(frame)


def _asks_for_locals(code: CodeType) -> bool:
    """Whether the program may hold this frame's `locals()`: it is the dictionary we would overwrite."""
    return not _TELLS_OF_LOCALS.isdisjoint(code.co_names)


def _read_and_clear(frame: FrameType) -> Locals | None:
    namespace = frame.f_locals
    held_by_frame_and_us = 3
    if sys.getrefcount(namespace) > held_by_frame_and_us:
        return None
    values = list(namespace.items())
    namespace.clear()
    return values
