"""Programs that use torch.compile: told early enough that no module hook of ours is ever seen by dynamo.

A global module hook that is present while dynamo traces adds guards, and so a second graph once it is removed,
and makes torch warn (measured on torch 2.13). So from the first request to compile on, calls of compiled modules
are watched instead, outside of what dynamo traces.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

_EVAL_FRAME = "torch._dynamo.eval_frame"


class CompilationWatch:
    """Calls `on_request` when the program asks to compile something, `on_call` when it calls a compiled module."""

    def __init__(self, on_request: Callable[[], None], on_call: Callable[[Any, Any], None]) -> None:
        self._on_request = on_request
        self._on_call = on_call
        self._restore: list[Callable[[], None]] = []
        self._importing = False
        if _EVAL_FRAME in sys.modules:
            self._attach(sys.modules[_EVAL_FRAME])
            if _has_compiled(sys.modules[_EVAL_FRAME]):
                on_request()
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Python's import asks every finder; we wait for dynamo to be imported, which torch does lazily."""
        if name != _EVAL_FRAME:
            return None
        self._stop_waiting()
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                self._attach_after(spec.loader)
                return spec
        return None

    def close(self) -> None:
        """Leave torch's classes as they were found."""
        self._stop_waiting()
        for restore in self._restore:
            restore()
        self._restore.clear()

    def _stop_waiting(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _attach_after(self, loader: Any) -> None:
        original = loader.exec_module

        def exec_module(module: Any) -> None:
            del loader.exec_module
            original(module)
            self._attach(module)

        loader.exec_module = exec_module

    def _attach(self, eval_frame: Any) -> None:
        self._watch_requests(eval_frame.OptimizeContext)
        self._watch_calls(eval_frame.OptimizedModule)

    def _watch_requests(self, context: Any) -> None:
        original, tell = context.__init__, self._on_request

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - stands in for the original
            tell()
            original(self, *args, **kwargs)

        self._replace(context, "__init__", __init__)

    def _watch_calls(self, compiled_module: Any) -> None:
        original, tell = compiled_module.__call__, self._on_call

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - stands in for the original
            if not torch.compiler.is_compiling():
                tell(args, kwargs)
            return original(self, *args, **kwargs)

        self._replace(compiled_module, "__call__", __call__)

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


def _has_compiled(eval_frame: Any) -> bool:
    """Whether something was compiled before we came; torch's switches that only disable dynamo count as nothing."""
    return any(backend is not None for backend in getattr(eval_frame, "cached_backends", {}).values())
