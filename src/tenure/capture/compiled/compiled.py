"""Programs that use torch.compile: the begin and the end of each compiled call, outside of what dynamo traces.

Each compiled call passes through two functions that dynamo's wrapper finds in its module, once dynamo is switched
off for the wrapper itself: `_callback_from_stance` before the compiled code and `_maybe_set_eval_frame` around it
(torch 2.6 and later). Older torch tells of calls of compiled modules only.

A strict `torch.export.export`, and compilation ahead of time, capture a whole graph without such a call (2.9 and
later), and fail where any hook of all modules is there (measured on torch 2.13).
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

import torch

_EVAL_FRAME = "torch._dynamo.eval_frame"
_EXPORT, _AHEAD_OF_TIME = "torch._dynamo.functional_export", "torch._dynamo.aot_compile"
"""The first is imported after the second."""
_MAKE_CAPTURES = ("dynamo_graph_capture_for_export", "_dynamo_graph_capture_for_export")
"""Each gives a function that captures what it is called with."""
_CAPTURE = "aot_compile_fullgraph"
_BEFORE, _AROUND = "_callback_from_stance", "_maybe_set_eval_frame"
_WRAPPERS = frozenset(("compile_wrapper", "_fn"))


class CompiledCallListener(Protocol):
    """What is told of compiled calls; each method is called outside of anything that dynamo traces."""

    def before_compilation(self, *, sees_calls: bool) -> None:
        """The program asks to compile; `sees_calls` says whether its compiled calls can be seen."""

    def before_compiled_module(self, args: Any, kwargs: Any) -> None:
        """An `OptimizedModule` is called; a compiled call follows from within where those can be seen."""

    def at_compiled_call(self, wrapper: FrameType) -> None:
        """A compiled call begins that is inside no other; dynamo's wrapper has its function and arguments."""

    def after_compiled_call(self) -> None:
        """That compiled call has ended, on the same thread; may raise SystemExit."""

    def before_capture(self) -> None:
        """Dynamo begins to capture a whole graph, for an export or ahead of time."""

    def after_capture(self) -> None:
        """It has ended, on the same thread."""


class CompilationWatch:
    """Tells its listener of compilation; dynamo may be imported already, or later, or never."""

    def __init__(self, listener: CompiledCallListener) -> None:
        self._listener = listener
        self._restore: list[Callable[[], None]] = []
        self._running: dict[int, tuple[int, bool]] = {}
        self._awaited = {_EVAL_FRAME: self._attach, _EXPORT: self._watch_captures}
        for name in list(self._awaited):
            if name in sys.modules:
                self._awaited.pop(name)(sys.modules[name])
        if _EVAL_FRAME not in self._awaited and _has_compiled(eval_frame := sys.modules[_EVAL_FRAME]):
            listener.before_compilation(sees_calls=sees_calls(eval_frame))
        if self._awaited:
            sys.meta_path.insert(0, self)

    @property
    def is_in_compiled_call(self) -> bool:
        """Whether a thread runs a compiled call now, or is just entering or leaving one."""
        return bool(self._running)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Python's import asks every finder; we wait for dynamo to be imported, which torch does lazily."""
        attach = self._awaited.pop(name, None)
        if attach is None:
            return None
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                _call_after_import(spec.loader, attach)
                return spec
        return None

    def close(self) -> None:
        """Leave torch's classes and functions as they were found."""
        self._awaited.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for restore in self._restore:
            restore()
        self._restore.clear()

    def _attach(self, eval_frame: Any) -> None:
        self._watch_modules(eval_frame.OptimizedModule)
        if sees_calls(eval_frame):
            self._watch_begin(eval_frame)
            self._watch_end(eval_frame)
        self._watch_requests(eval_frame.OptimizeContext, sees_calls(eval_frame))

    def _watch_requests(self, context: Any, sees: bool) -> None:
        original, tell = context.__init__, self._listener.before_compilation

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - stands in for the original
            tell(sees_calls=sees)
            original(self, *args, **kwargs)

        self._replace(context, "__init__", __init__)

    def _watch_modules(self, compiled_module: Any) -> None:
        original, tell = compiled_module.__call__, self._listener.before_compiled_module

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - stands in for the original
            if not torch.compiler.is_compiling():
                tell(args, kwargs)
            return original(self, *args, **kwargs)

        self._replace(compiled_module, "__call__", __call__)

    def _watch_begin(self, eval_frame: Any) -> None:
        original = getattr(eval_frame, _BEFORE)

        def callback_from_stance(callback: Any) -> Any:
            if callback is not None:
                self._begin(sys._getframe(1))
            return original(callback)

        self._replace(eval_frame, _BEFORE, callback_from_stance)

    def _watch_end(self, eval_frame: Any) -> None:
        original, running = getattr(eval_frame, _AROUND), self._running

        def maybe_set_eval_frame(callback: Any) -> Any:
            # Before the original: it may switch dynamo on again for what surrounds this compiled call.
            if not running:  # nothing compiled: `zero_grad` comes by as well
                return original(callback)
            try:
                self._pass(id(sys._getframe(1)))
            finally:
                result = original(callback)
            return result

        self._replace(eval_frame, _AROUND, maybe_set_eval_frame)

    def _watch_captures(self, export: Any) -> None:
        ahead = sys.modules.get(_AHEAD_OF_TIME)
        if capture := getattr(ahead, _CAPTURE, None):
            self._replace(ahead, _CAPTURE, self._told(capture))
        for name in _MAKE_CAPTURES:
            if make := getattr(export, name, None):
                self._replace(export, name, self._gives_told(make))

    def _told(self, capture: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(capture)
        def tell_and_capture(*args: Any, **kwargs: Any) -> Any:
            self._listener.before_capture()
            try:
                return capture(*args, **kwargs)
            finally:
                self._listener.after_capture()

        return tell_and_capture

    def _gives_told(self, make: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(make)
        def make_capture(*args: Any, **kwargs: Any) -> Any:
            return self._told(make(*args, **kwargs))

        return make_capture

    def _begin(self, wrapper: FrameType) -> None:
        thread = threading.get_ident()
        if thread in self._running or wrapper.f_code.co_name not in _WRAPPERS:
            return
        self._running[thread] = (id(wrapper), True)
        self._listener.at_compiled_call(wrapper)

    def _pass(self, wrapper: int) -> None:
        """The wrapper comes by twice: on its way in, and on its way out."""
        thread = threading.get_ident()
        frame, enters = self._running.get(thread, (0, False))
        if frame != wrapper:
            return
        if enters:
            self._running[thread] = (wrapper, False)
            return
        del self._running[thread]
        self._listener.after_compiled_call()

    def _replace(self, owner: Any, name: str, replacement: Any) -> None:
        own = owner.__dict__.get(name)

        def restore() -> None:
            if owner.__dict__.get(name) is not replacement:
                return
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

        setattr(owner, name, replacement)
        self._restore.append(restore)


def _call_after_import(loader: Any, attach: Callable[[Any], None]) -> None:
    original = loader.exec_module

    def exec_module(module: Any) -> None:
        del loader.exec_module
        original(module)
        attach(module)

    loader.exec_module = exec_module


def sees_calls(eval_frame: Any) -> bool:
    """Whether this torch's dynamo lets its compiled calls be seen."""
    return callable(getattr(eval_frame, _BEFORE, None)) and callable(getattr(eval_frame, _AROUND, None))


def _has_compiled(eval_frame: Any) -> bool:
    """Whether something was compiled before we came; torch's switches that only disable dynamo count as nothing."""
    return any(backend is not None for backend in getattr(eval_frame, "cached_backends", {}).values())
