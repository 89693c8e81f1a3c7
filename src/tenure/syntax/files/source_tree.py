"""Python files below the paths that a person names, with their text; files that have nothing to do with torch are left
out before anything is parsed."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import SourceError
from tenure.syntax.files.documents import NOTEBOOK, Document, read_document

LARGEST_BYTES = 8 << 20
"""Nobody wrote a larger file by hand, and its syntax tree would take gigabytes."""
_SEEN_BYTES = 200
"""Text in UTF-16, which Python does not read, has a zero among so many."""
_FEW_FILES = 40
"""Of so many files all that hang together are looked at, whether they name torch or not."""
LARGEST_NOTEBOOK_BYTES = 64 << 20
"""Most of a notebook is what its cells have shown."""
_NEVER_ENTERED = frozenset(
    {"__pycache__", "node_modules", "build", "dist", "site-packages", "venv", "env", ".venv", "virtualenv"}
)
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([^\n]+)|import[ \t]+([\w., \t]+))", re.MULTILINE | re.ASCII
)


def find_files(paths: Sequence[Path], exclude: Sequence[str] = (), failures: list[str] | None = None) -> Iterator[Path]:
    """Python files and notebooks in the order of their names; a file that is named itself is taken whatever its name.

    Hidden folders, environments and what matches `exclude` (a glob of the path, or of a folder's name) are not
    entered, and links to folders not followed. A line for each folder that cannot be read goes to `failures`.
    """
    for path in paths:
        if path.is_dir():
            yield from _below(path, exclude, [] if failures is None else failures)
        else:
            yield path


def each_once(files: Iterable[Path]) -> list[Path]:
    """The files without those that are another one of them by a link: under its real name where that is among them,
    else under the first."""
    chosen: dict[str, tuple[tuple[bool, bool], Path]] = {}
    for path in files:
        real = os.path.realpath(path)
        rank = os.path.normpath(path.absolute()) != real, path.is_symlink()
        if real not in chosen or rank < chosen[real][0]:
            chosen.pop(real, None)
            chosen[real] = rank, path
    return [path for _, path in chosen.values()]


class _TooLargeError(SourceError):
    """A file that is not read, or not looked at, for its size."""


@dataclass(frozen=True)
class ReadProgram:
    """The files that name torch and those that they import by name; one line in `failures` for each that cannot be
    read, in `too_large` for each that is skipped for its size. `num_lines` counts all files that were read,
    `num_skipped` those that have nothing to do with torch or are too large."""

    documents: tuple[Document, ...]
    failures: tuple[str, ...]
    num_lines: int
    num_skipped: int
    too_large: tuple[str, ...] = ()


def read_program(files: Sequence[Path]) -> ReadProgram:
    """What of `files` is to be looked at. Costs reading all of them."""
    raw: dict[Path, bytes] = {}
    failures: list[str] = []
    too_large: list[str] = []
    for path in files:
        try:
            raw[path] = _read(path)
        except _TooLargeError as error:
            too_large.append(str(error))
        except (OSError, SourceError) as error:
            failures.append(_said(path, error))
    documents: dict[Path, Document] = {}
    with_torch = dict.fromkeys(path for path in files if b"torch" in raw.get(path, b""))
    for path in with_torch:
        _add(documents, path, raw[path], failures)
    imported = {name for each in documents.values() for name in _imported_names(each.source.text)}
    for path in (path for path in files if path in raw and path not in documents and path.stem in imported):
        if path not in with_torch:
            _add(documents, path, raw[path], failures)
    if len(raw) <= _FEW_FILES:
        _add_neighbours(documents, raw, failures)
    looked_at = tuple(documents[path] for path in files if path in documents)
    num_lines = sum(data.count(b"\n") + (data[-1:] not in (b"\n", b"")) for data in raw.values())
    num_skipped = len(raw.keys() - documents.keys() - with_torch.keys()) + len(too_large)
    return ReadProgram(looked_at, tuple(failures), num_lines, num_skipped, tuple(too_large))


def _add_neighbours(documents: dict[Path, Document], raw: dict[Path, bytes], failures: list[str]) -> None:
    """Of a small program also what imports the files that are looked at, and all that is imported there."""
    names = {path: set(_imported_names(data.decode("utf-8", "replace"))) for path, data in raw.items()}
    waiting = list(documents)
    while waiting:
        here = waiting.pop()
        for path in raw:
            is_near = here.stem in names[path] or path.stem in names[here]
            if is_near and path not in documents and path.suffix != NOTEBOOK:
                _add(documents, path, raw[path], failures)
                if path in documents:
                    waiting.append(path)


def _read(path: Path) -> bytes:
    """The bytes of a file that a person may have written; `_TooLargeError` for any other, SourceError for no file."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"{path}: is no file, not read")
    largest = LARGEST_NOTEBOOK_BYTES if path.suffix == NOTEBOOK else LARGEST_BYTES
    if status.st_size > largest:
        raise _TooLargeError(f"{path}: larger than {largest >> 20} MiB, skipped")
    data = path.read_bytes()
    if path.suffix == ".py" and b"torch" not in data and b"\0" in data[:_SEEN_BYTES]:
        raise SourceError(f"{path}: is no text that Python reads (UTF-16?): save it as UTF-8")
    return data


def _said(path: Path, error: Exception) -> str:
    return f"{path}: cannot be read: {error.strerror or error}" if isinstance(error, OSError) else str(error)


def _add(documents: dict[Path, Document], path: Path, data: bytes, failures: list[str]) -> None:
    try:
        document = read_document(str(path), data)
        if len(document.source.text) > LARGEST_BYTES:
            raise SourceError(f"{path}: holds more than {LARGEST_BYTES >> 20} MiB of code, not looked at")
        documents[path] = document
        failures += document.failures
    except SourceError as error:
        failures.append(str(error))


def _below(folder: Path, exclude: Sequence[str], failures: list[str]) -> Iterator[Path]:
    def note(error: OSError) -> None:
        failures.append(f"{error.filename}: cannot be read: {error.strerror}")

    for parent, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if _is_entered(Path(parent, name), exclude))
        for name in sorted(names):
            path = Path(parent, name)
            if name.endswith((".py", NOTEBOOK)) and not _is_excluded(path, exclude):
                yield path


def _is_entered(folder: Path, exclude: Sequence[str]) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _NEVER_ENTERED
    return not hidden and not _is_excluded(folder, exclude)


def _is_excluded(path: Path, exclude: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(path.name, each) or fnmatch.fnmatch(path.as_posix(), each) for each in exclude)


def _imported_names(text: str) -> Iterator[str]:
    """Last parts of what is imported: `meters` of `from .meters import X`, `x` of `from . import x`."""
    for package, names, modules in _IMPORTS.findall(text):
        if package:
            yield package.rpartition(".")[2]
        for name in re.split(r"[,\s()]+", names or modules):
            yield name.rpartition(".")[2]
