"""A scratch working folder that looks like the original: what the program writes lands there and not in the tree.

Sources and large files are links to the originals, small data files are copies. A program that opens a linked file
for writing changes the original; that is found afterwards and told, not prevented. What a program writes by an
absolute path, or below its home, is out of reach.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MOST_ENTRIES = 20_000
"""Beyond so many, folders are linked whole."""
LARGEST_COPY = 4 << 20
MOST_COPIED = 256 << 20
LINKED_FOLDERS = frozenset({".git", ".hg", ".venv", "venv", ".tox", "node_modules"})
LEFT_OUT = frozenset({"__pycache__"})
SOURCES = (".py", ".pyi", ".pyx", ".so", ".c", ".cpp", ".cu", ".h")
_LARGEST_HASHED = 64 << 20


@dataclass
class Mirror:
    """A mirror of `original` in `folder`; `links` are the linked files as they were."""

    original: Path
    folder: Path
    links: dict[Path, tuple[int, int]] = field(default_factory=dict)
    copies: dict[Path, tuple[int, int]] = field(default_factory=dict)
    linked_folders: list[Path] = field(default_factory=list)
    _entries: int = 0
    _copied: int = 0

    def written(self) -> dict[str, str]:
        """Digests of the files that are new or changed, by their path below the folder; large ones by their size."""
        return dict(sorted(self._find_written()))

    def changed_originals(self) -> list[Path]:
        """Linked files that are not as they were."""
        return [path for path, before in self.links.items() if _state_of(path) != before]

    def _find_written(self) -> Iterator[tuple[str, str]]:
        for folder, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if name not in LEFT_OUT]
            for path in (Path(folder, name) for name in files):
                if not path.is_symlink() and path.is_file() and _state_of(path) != self.copies.get(path):
                    yield path.relative_to(self.folder).as_posix(), _digest(path)

    def fill(self, source: Path, target: Path) -> None:
        """Make `target` look like `source`, below which all the rest lies."""
        target.mkdir(parents=True)
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            self._entries += 1
            there = target / entry.name
            if entry.name in LEFT_OUT:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._add_folder(Path(entry.path), there)
            elif entry.is_file() and not entry.is_symlink():
                self._add_file(Path(entry.path), there)
            else:
                there.symlink_to(os.path.realpath(entry.path))

    def _add_folder(self, source: Path, target: Path) -> None:
        if source.name in LINKED_FOLDERS or self._entries > MOST_ENTRIES or not os.access(source, os.R_OK | os.X_OK):
            self.linked_folders.append(source)
            target.symlink_to(source)
        else:
            self.fill(source, target)

    def _add_file(self, source: Path, target: Path) -> None:
        size = source.stat().st_size
        small = size <= LARGEST_COPY and self._copied + size <= MOST_COPIED and os.access(source, os.R_OK)
        if source.suffix in SOURCES or not small:
            self.links[source] = _state_of(source)
            target.symlink_to(source)
        else:
            self._copied += size
            shutil.copy2(source, target)
            self.copies[target] = _state_of(target)


def make_mirror(original: Path, folder: Path) -> Mirror:
    """A fresh mirror in `folder`, in place of what lies there. Costs a link or a small copy per file."""
    shutil.rmtree(folder, ignore_errors=True)
    mirror = Mirror(original, folder)
    mirror.fill(original.resolve(), folder)
    return mirror


def _state_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def _digest(path: Path) -> str:
    size = path.stat().st_size
    if size > _LARGEST_HASHED:
        return f"{size} bytes"
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"
