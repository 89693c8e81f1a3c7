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
    from collections.abc import Callable, Mapping, MutableMapping
    from importlib.machinery import ModuleSpec
    from typing import Any


class _ModuleWatcher:
    """Finds modules as Python would and calls what waits for one once the module's own code has run."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[Any], None]]] = {}

    def call_after(self, name: str, work: Callable[[Any], None]) -> None:
        """Call `work` with the module of that name when it is imported; what comes first is called first."""
        self._waiting.setdefault(name, []).append(work)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """A module's own spec, with its loader watched; None for modules that nobody waits for."""
        if name not in self._waiting:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._watch(name, spec.loader)
                return spec
        return None

    def _watch(self, name: str, loader: Any) -> None:
        original = getattr(loader, "exec_module", None)
        if original is None:
            return

        def exec_module(module: Any) -> None:
            del loader.exec_module
            original(module)
            for work in self._waiting.pop(name, ()):
                work(module)
            if not self._waiting and self in sys.meta_path:
                sys.meta_path.remove(self)

        try:
            loader.exec_module = exec_module
        except AttributeError as error:
            _complain(error)


def _start_recorder(torch: Any) -> None:
    try:
        _refuse_another_tenure()
        if "tenure" not in sys.modules:
            _load_package(os.environ["TENURE_PACKAGE"])
        from tenure.capture.from_environment import start_from_environment

        start_from_environment()
    except Exception as error:
        _complain(error)


def _refuse_another_tenure() -> None:
    """ImportError where the program has a module of its own by our name: with ours in its place it would fail."""
    loaded = sys.modules.get("tenure")
    if loaded is None:
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec("tenure")
        file, folders = (spec.origin, spec.submodule_search_locations) if spec is not None else (None, None)
    else:
        file, folders = getattr(loaded, "__file__", None), getattr(loaded, "__path__", None)
    ours = os.path.join("capture", "from_environment.py")  # noqa: PTH118 - as little as can be is imported here
    if file is not None and not any(os.path.isfile(os.path.join(each, ours)) for each in folders or ()):  # noqa: PTH113, PTH118
        raise ImportError(f"the program has a module tenure of its own, {file}; it would be taken for ours")


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


def _seed_on_import(watcher: _ModuleWatcher, seed: int) -> None:
    """Give generators a start of their own as they are imported; a program that seeds them does so after this."""
    for name, function in (("random", "seed"), ("numpy.random", "seed"), ("torch", "manual_seed")):

        def set_seed(module: Any, function: str = function) -> None:
            getattr(module, function)(seed)

        if name in sys.modules:
            set_seed(sys.modules[name])
        else:
            watcher.call_after(name, set_seed)


def _put_overlay_in(folder: str) -> None:
    try:
        import _tenure_overlay  # type: ignore[import-not-found]

        _tenure_overlay.put_in(folder)
    except Exception as error:
        print(f"tenure: the patch is not in force in this process: {type(error).__name__}: {error}", file=sys.stderr)


def _find_server(environment: MutableMapping[str, str]) -> Callable[[], None] | None:
    """What makes this a process that is copied for each run; None where it is a run itself."""
    descriptors = environment.pop("TENURE_PREPARED", None)
    if descriptors is None:
        return None
    import _tenure_prepared  # type: ignore[import-not-found]

    def load() -> None:
        if "tenure" not in sys.modules:
            _load_package(environment["TENURE_PACKAGE"])

    def begin() -> None:
        if environment.get("TENURE_SEED"):
            _seed_on_import(_ModuleWatcher(), int(environment["TENURE_SEED"]))
        _start_recorder(sys.modules["torch"])

    return lambda: _tenure_prepared.serve(descriptors, load, begin)


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


def _do_as_asked(environment: Mapping[str, str]) -> None:
    if environment.get("TENURE_OVERLAY"):
        _put_overlay_in(environment["TENURE_OVERLAY"])
    watcher = _ModuleWatcher()
    if environment.get("TENURE_SEED"):
        _seed_on_import(watcher, int(environment["TENURE_SEED"]))
    if "TENURE_RECORDING" in environment and "TENURE_PACKAGE" in environment:
        watcher.call_after("torch", _start_recorder)


def _check_guard() -> None:
    """A program whose writes are to be kept away from the user's files does not begin where they are not."""
    with open("/proc/self/maps", "rb") as file:  # noqa: PTH123
        if b"/_guard." in file.read():
            return
    print("tenure: this Python does not load the guard of your files, so the program was not begun", file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)


if os.environ.get("TENURE_GUARD"):
    _check_guard()
_serve = _find_server(os.environ)
if os.environ.get("TENURE") != "0":
    _do_as_asked(os.environ)
_step_aside()
_run_next_sitecustomize()
if _serve is not None:
    _serve()  # returns in the copies
