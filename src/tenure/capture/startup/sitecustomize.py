"""Starts the recorder in a Python program that `tenure run` started, directly or through shells and launchers.

Python imports this before the program because `tenure run` puts its folder first on PYTHONPATH. It takes the
folder off the path again, waits for the program itself to import torch, and hands over to the program's own
sitecustomize. Standard library only; a failure of ours is one line on stderr and the program goes on.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any


class _TorchWatcher:
    """Finds torch as Python would and runs `tenure`'s recorder once torch's own code has run."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Torch's own spec, with its loader watched; None for every other module."""
        if name != "torch":
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._watch(spec.loader)
                return spec
        return None

    def _watch(self, loader: Any) -> None:
        original = getattr(loader, "exec_module", None)
        if original is None:
            return

        def exec_module(module: Any) -> None:
            del loader.exec_module
            original(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _start_recorder()

        try:
            loader.exec_module = exec_module
        except AttributeError as error:
            _complain(error)


def _start_recorder() -> None:
    try:
        if "tenure" not in sys.modules:
            _load_package(os.environ["TENURE_PACKAGE"])
        from tenure.capture.from_environment import start_from_environment

        start_from_environment()
    except Exception as error:
        _complain(error)


def _load_package(folder: str) -> None:
    """Load this very Tenure, which the program's environment may lack, without a new entry on sys.path."""
    from importlib.util import module_from_spec, spec_from_file_location

    file = folder + os.sep + "__init__.py"
    spec = spec_from_file_location("tenure", file, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no Tenure in {folder}")
    sys.modules["tenure"] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["tenure"]
        raise


def _put_overlay_in(folder: str) -> None:
    try:
        import _tenure_overlay  # type: ignore[import-not-found]

        _tenure_overlay.put_in(folder)
    except Exception as error:
        print(f"tenure: the patch is not in force in this process: {type(error).__name__}: {error}", file=sys.stderr)


def _complain(error: Exception) -> None:
    print(f"tenure: not recording this process: {type(error).__name__}: {error}", file=sys.stderr)


def _run_next_sitecustomize() -> None:
    """The one that Python would have run; its errors are reported by Python as always."""
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


def _step_aside() -> None:
    """Take our folder off sys.path; children still inherit it by PYTHONPATH."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
    sys.path[:] = [entry for entry in sys.path if entry != folder]


if os.environ.get("TENURE") != "0" and os.environ.get("TENURE_OVERLAY"):
    _put_overlay_in(os.environ["TENURE_OVERLAY"])
_step_aside()
if os.environ.get("TENURE") != "0" and "TENURE_RECORDING" in os.environ and "TENURE_PACKAGE" in os.environ:
    sys.meta_path.insert(0, _TorchWatcher())
_run_next_sitecustomize()
