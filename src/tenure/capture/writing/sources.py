"""Copies of the program's source files, so that findings point at the lines that ran and not at later edits."""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tenure.capture.guarding.classes import globals_of
from tenure.capture.heap.origins import OWN_FOLDER, folders_of_the_program, is_library_file, is_own_file
from tenure.capture.system.host import file_of_main
from tenure.store.format import NOTE, SOURCE, SOURCES_FOLDER

MAX_FILES = 2000
MAX_BYTES = 20_000_000
MAX_FILES_OF_PACKAGE = 64
"""Of a package with more loaded files only those are copied that a census referred to."""


class SourceCopies:
    """Copies each file once into a recording's sources/, named by its contents, and adds a row for it.

    Stops quietly at 2,000 files or 20 MB; the program's own files come first, so libraries are cut first.
    """

    def __init__(self, folder: Path, append_row: Callable[[dict[str, Any]], None]) -> None:
        self._folder = folder / SOURCES_FOLDER
        self._append_row = append_row
        self._seen: set[str] = set()
        self._library: dict[str, None] = {}
        self._folders = folders_of_the_program()
        self._num_files = 0
        self._num_bytes = 0

    def add_program(self, referred: Iterable[str] = ()) -> None:
        """Copy the program's own files: those referred to and all loaded modules below its folders, which are its
        script's and all that it was seen to work in.

        Library files that are referred to are remembered for `add_libraries`.
        """
        self._folders |= folders_of_the_program()
        for path in referred:
            if find_origin(path) == "yours":
                self._copy(path, "yours")
            else:
                self._library[path] = None
        for path in list_program_files(self._folders):
            self._copy(path, "yours")

    def add_libraries(self) -> None:
        """Copy the library files that censuses referred to, and what else of small libraries is loaded; done once, at
        the end."""
        for path in (*self._library, *list_files_beside(self._library)):
            self._copy(path, "library")
        self._library.clear()

    def _copy(self, path: str, origin: str) -> None:
        if path in self._seen or self._num_files >= MAX_FILES:
            return
        self._seen.add(path)
        data = _read_source(path)
        if data is None or self._num_bytes + len(data) > MAX_BYTES:
            return
        name = hashlib.sha1(data, usedforsecurity=False).hexdigest()[:16] + ".py"
        self._folder.mkdir(exist_ok=True)
        copy = self._folder / name
        if not copy.exists():
            try:
                copy.write_bytes(data)
            except OSError as error:
                self._give_up(copy, path, error)
                return
            self._num_bytes += len(data)
            self._num_files += 1
        self._append_row({"kind": SOURCE, "path": path, "file": name, "origin": origin})

    def _give_up(self, copy: Path, path: str, error: OSError) -> None:
        """No room for this file, nor for later ones: findings have no lines there, the recording goes on."""
        self._num_files = MAX_FILES
        with suppress(OSError):
            copy.unlink()
        text = f"sources are not copied any more, from {path} on: {error.strerror or error}"
        self._append_row({"kind": NOTE, "level": "warning", "text": text, "step": None})


def list_program_files(folders: Iterable[str]) -> list[str]:
    """Source files of `__main__` and of loaded modules below the folders."""
    folders = tuple(folder.rstrip(os.sep) + os.sep for folder in folders)
    files = [main_file] if (main_file := file_of_main()) else []
    for module in list(sys.modules.values()):
        path = globals_of(module).get("__file__")
        if isinstance(path, str) and path.endswith(".py") and path.startswith(folders):
            files.append(path)
    return [path for path in files if find_origin(path) == "yours"]


def list_files_beside(paths: Collection[str]) -> list[str]:
    """Source files of the other loaded modules of the packages that library files belong to, where these are few: the
    hook that keeps memory is often in a file of its own, and no census refers to it."""
    files = [
        (name.partition(".")[0], path)
        for name, module in list(sys.modules.items())
        if isinstance(path := globals_of(module).get("__file__"), str) and path.endswith(".py")
    ]
    packages = {package for package, path in files if path in paths} - sys.stdlib_module_names
    beside = {package: [path for known, path in files if known == package] for package in packages}
    return [path for _, found in sorted(beside.items()) if len(found) <= MAX_FILES_OF_PACKAGE for path in found]


def find_origin(path: str) -> str:
    """`library` for installed packages, the standard library and Tenure itself, `yours` for all else."""
    if path.startswith(OWN_FOLDER):
        return "library" if is_own_file(path) else "yours"
    return "library" if is_library_file(path) else "yours"


def _read_source(path: str) -> bytes | None:
    edited = _read_edited(path)
    if edited is not None:
        return edited
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - the name may be no path at all, as "<stdin>"
            return file.read(MAX_BYTES)
    except (OSError, ValueError):
        lines = linecache.getlines(path)
        return "".join(lines).encode("utf-8", "replace") if lines else None


def _read_edited(path: str) -> bytes | None:
    """The text that a patch put in the file's place (see startup/_tenure_overlay); None where none did."""
    overlay = sys.modules.get("_tenure_overlay")
    return overlay.read(path) if overlay is not None else None
