"""Edited texts in the place of source files: what Python, linecache and runpy read here, without a file being touched.

The folder named by TENURE_OVERLAY holds one pair of files per original: `N.path` names it, `N.py` is its edited text.
Standard library only, as sitecustomize.py, which imports this before the program. Edited files are compiled under
their own names at each start: byte code is neither read nor written for them. `N.used` is left beside a text that was
compiled, so that a patch of a file that nobody imported is told. Not covered: modules in zip archives, frozen modules,
and programs that read a source file by `open`.
"""

from __future__ import annotations

import importlib.machinery
import io
import linecache
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_texts: dict[str, tuple[str, bytes]] = {}
"""By the original's path: the pair's name below the folder, and the edited text."""
_names: set[str] = set()
_folder = ""
_RUN_MAIN = "_run_module_as_main"


def put_in(folder: str) -> None:
    """From now on edited texts are read in this process; children inherit the folder by their environment."""
    global _folder
    _folder = folder
    for entry in sorted(os.listdir(folder)):  # noqa: PTH208 - pathlib is not loaded yet
        if entry.endswith(".path"):
            pair = entry[: -len(".path")]
            _add(os.fsdecode(_read_pair(entry)), pair, _read_pair(pair + ".py"))
    _edit_loaders()
    _edit_linecache()
    _edit_open_code()
    if read(os.path.abspath(sys.argv[0])) is not None:  # noqa: PTH100
        sys.path_hooks.insert(0, _find_main)


def read(path: Any) -> bytes | None:
    """The edited text of a file, however its path is spelled; None where it is not edited."""
    if not isinstance(path, str) or os.path.basename(path) not in _names:  # noqa: PTH119
        return None
    found = _texts.get(path) or _texts.get(os.path.realpath(path))
    return found[1] if found else None


def _add(path: str, pair: str, text: bytes) -> None:
    for spelled in (path, os.path.realpath(path)):
        _texts[spelled] = (pair, text)
        _names.add(os.path.basename(spelled))  # noqa: PTH119


def _take(path: Any) -> bytes | None:
    """The same, to be compiled: noted in the folder."""
    text = read(path)
    if text is not None:
        pair = (_texts.get(path) or _texts[os.path.realpath(path)])[0]
        try:
            os.close(os.open(_in_folder(pair + ".used"), os.O_CREAT | os.O_WRONLY, 0o644))
        except OSError:
            pass
    return text


def _read_pair(name: str) -> bytes:
    with open(_in_folder(name), "rb") as file:  # noqa: PTH123
        return file.read()


def _in_folder(name: str) -> str:
    return _folder + os.sep + name


def _edit_loaders() -> None:
    loader: Any = importlib.machinery.SourceFileLoader
    get_code, get_data = loader.get_code, loader.get_data

    def get_edited_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        text = _take(path)
        return get_code(self, fullname) if text is None else self.source_to_code(text, path)

    def get_edited_data(self: Any, path: Any) -> Any:
        text = read(path)
        return get_data(self, path) if text is None else text

    loader.get_code, loader.get_data = get_edited_code, get_edited_data


def _edit_linecache() -> None:
    module: Any = linecache
    update = module.updatecache

    def update_edited(filename: Any, module_globals: Any = None) -> Any:
        text = read(filename)
        if text is None:
            return update(filename, module_globals)
        lines = importlib.machinery.SourceFileLoader("", filename).get_source("").splitlines(True)  # type: ignore[union-attr]
        # Without a time the entry counts as a loader's and is never compared with the file.
        module.cache[filename] = (len(text), None, lines, filename)
        return lines

    module.updatecache = update_edited


def _edit_open_code() -> None:
    open_code = io.open_code

    def open_edited(path: Any) -> Any:
        text = _take(path)
        return open_code(path) if text is None else io.BytesIO(text)

    io.open_code = open_edited


def _find_main(path: Any) -> _Main:
    """Python asks its path hooks whether the script it is given is a folder or archive to import `__main__` from."""
    if read(path) is None:
        raise ImportError
    sys.path_hooks.remove(_find_main)
    return _Main(path)


class _Main:
    """Runs an edited script in place of `runpy`, in the state in which Python starts a script."""

    def __init__(self, script: str) -> None:
        import runpy

        self._script = script
        self._runpy = runpy
        self._original = getattr(runpy, _RUN_MAIN)
        setattr(runpy, _RUN_MAIN, self)

    def __call__(self, name: str, *arguments: Any) -> Any:
        setattr(self._runpy, _RUN_MAIN, self._original)
        sys.path_importer_cache.pop(self._script, None)
        if sys.path[:1] == [self._script]:
            safe = getattr(sys.flags, "safe_path", False)
            sys.path[:1] = [] if safe else [os.path.dirname(os.path.realpath(self._script))]  # noqa: PTH120
        main = sys.modules["__main__"].__dict__
        loader = importlib.machinery.SourceFileLoader("__main__", self._script)
        main.update({"__file__": self._script, "__cached__": None, "__loader__": loader})
        exec(loader.get_code("__main__"), main)  # type: ignore[arg-type]

    def find_spec(self, name: str, target: Any = None) -> None:
        """Nothing is imported from a script."""
