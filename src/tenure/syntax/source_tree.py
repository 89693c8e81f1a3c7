"""Python files below the paths that a person names, with their text; files that have nothing to do with torch are left
out before anything is parsed."""

from __future__ import annotations

import fnmatch
import io
import os
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from tenure.errors import SourceError
from tenure.model.source import SourceFile

LARGEST_BYTES = 4 << 20
"""Nobody wrote a larger file by hand."""
_NEVER_ENTERED = frozenset(
    {"__pycache__", "node_modules", "build", "dist", "site-packages", "venv", "env", ".venv", "virtualenv"}
)
_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([^\n]+)|import[ \t]+([\w., \t]+))", re.MULTILINE
)


def find_files(paths: Sequence[Path], exclude: Sequence[str] = ()) -> Iterator[Path]:
    """Python files in the order of their names; a file that is named itself is taken whatever its name.

    Hidden folders, environments and what matches `exclude` (a glob of the path, or of a folder's name) are not
    entered, and links to folders not followed.
    """
    for path in paths:
        if path.is_dir():
            yield from _below(path, exclude)
        else:
            yield path


def decode(path: Path, data: bytes) -> str:
    """The text of a file as Python would read it; SourceError, in one line, where it cannot be decoded."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (UnicodeDecodeError, SyntaxError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from None


def read_program(files: Sequence[Path]) -> tuple[list[SourceFile], list[str]]:
    """The files that name torch and those that they import by name, and one line for each that cannot be read."""
    raw, failures = {}, []
    for path in files:
        try:
            raw[path] = path.read_bytes() if path.stat().st_size <= LARGEST_BYTES else b""
            if not raw[path] and path.stat().st_size:
                failures.append(f"{path}: larger than {LARGEST_BYTES >> 20} MiB, not read")
        except OSError as error:
            failures.append(f"{path}: cannot be read: {error.strerror or error}")
    chosen = {path for path, data in raw.items() if b"torch" in data}
    imported = {name for path in chosen for name in _imported_names(raw[path])}
    chosen |= {path for path in raw if path.stem in imported}
    sources = []
    for path in files:
        if path in chosen:
            try:
                sources.append(SourceFile(str(path), decode(path, raw[path])))
            except SourceError as error:
                failures.append(str(error))
    return sources, failures


def _below(folder: Path, exclude: Sequence[str]) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_entered(Path(parent, name), exclude))
        for name in sorted(names):
            path = Path(parent, name)
            if name.endswith(".py") and not _is_excluded(path, exclude):
                yield path


def _is_entered(folder: Path, exclude: Sequence[str]) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _NEVER_ENTERED
    return not hidden and not _is_excluded(folder, exclude)


def _is_excluded(path: Path, exclude: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(path.name, each) or fnmatch.fnmatch(path.as_posix(), each) for each in exclude)


def _imported_names(data: bytes) -> Iterator[str]:
    """Last parts of what is imported: `meters` of `from .meters import X`, `x` of `from . import x`."""
    for package, names, modules in _IMPORTS.findall(data):
        if package:
            yield package.decode().rpartition(".")[2]
        for name in re.split(rb"[,\s()]+", names or modules):
            yield name.decode(errors="replace").rpartition(".")[2]
