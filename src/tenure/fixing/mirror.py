"""A scratch working folder that looks like the original: what the program writes lands there and not in the tree.

Small data files are copies; sources, large files and whole folders are links that stand for the originals. The guard
(_guard.c) puts a copy in the place of such a link before the program writes to it, and leads paths of the original to
the mirror. Where it is not there, a write through a link changes the original; that is found afterwards and told.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST_ENTRIES = 20_000
"""Beyond so many, folders are linked whole."""
LARGEST_COPY = 4 << 20
MOST_COPIED = 256 << 20
LINKED_FOLDERS = frozenset({".git", ".hg", ".venv", "venv", ".tox", "node_modules"})
LEFT_OUT = frozenset({"__pycache__"})
NOT_COMPARED = LEFT_OUT | {".git", ".hg"}
SOURCES = (".py", ".pyi", ".pyx", ".so", ".c", ".cpp", ".cu", ".h")


@dataclass
class Mirror:
    """A mirror of `original` in `folder`; `links` are the linked files as they were.

    `base` is where the mirrors of all guarded folders lie, each under its own whole path, and `left_out` is no part of
    what is mirrored.
    """

    original: Path
    folder: Path
    base: Path | None = None
    left_out: Path | None = None
    links: dict[Path, tuple[int, int]] = field(default_factory=dict)
    copies: dict[Path, tuple[int, int]] = field(default_factory=dict)
    linked_folders: list[Path] = field(default_factory=list)
    _entries: int = 0
    _copied: int = 0

    def written(self) -> dict[str, Path]:
        """The files that are new or changed, by their path below the folder, or their whole one outside of it."""
        return dict(sorted(self._find_written()))

    def changed_originals(self) -> list[Path]:
        """Linked files that are not as they were."""
        return [path for path, before in self.links.items() if _state_of(path) != before]

    def _find_written(self) -> Iterator[tuple[str, Path]]:
        for folder, folders, files in os.walk(self.base or self.folder):
            folders[:] = [name for name in folders if name not in NOT_COMPARED]
            for path in (Path(folder, name) for name in files):
                if not path.is_symlink() and path.is_file() and _state_of(path) != self.copies.get(path):
                    yield self._name(path), path

    def _name(self, path: Path) -> str:
        inside = path.is_relative_to(self.folder)
        return path.relative_to(self.folder).as_posix() if inside else f"/{path.relative_to(self.base or '/')}"

    def fill(self, source: Path, target: Path) -> None:
        """Make `target` look like `source`, below which all the rest lies."""
        target.mkdir(parents=True)
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            self._entries += 1
            there = target / entry.name
            if entry.name in LEFT_OUT or Path(entry.path) == self.left_out:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._add_folder(Path(entry.path), there)
            elif entry.is_file() and not entry.is_symlink():
                self._add_file(Path(entry.path), there)
            else:
                there.symlink_to(self._where_it_leads(entry.path))

    def frame(self, root: Path) -> None:
        """Links for all that lies beside the original on the way up to `root`; one for all of `root` elsewhere."""
        assert self.base is not None
        if not self.original.is_relative_to(root):
            mirrored = _below(self.base, root)
            mirrored.parent.mkdir(parents=True, exist_ok=True)
            mirrored.symlink_to(root)
            return
        inner = self.original
        while inner != root:
            inner, kept = inner.parent, inner.name
            _below(self.base, inner).mkdir(parents=True, exist_ok=True)
            for entry in os.scandir(inner):
                if entry.name not in (kept, *LEFT_OUT) and Path(entry.path) != self.left_out:
                    (_below(self.base, inner) / entry.name).symlink_to(entry.path)

    def _where_it_leads(self, link: str) -> Path:
        """A link within the original is one within the mirror."""
        leads = Path(os.path.realpath(link))
        inside = leads.is_relative_to(self.original)
        return self.folder / leads.relative_to(self.original) if inside else leads

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
    mirror = Mirror(original.resolve(), folder)
    mirror.fill(mirror.original, folder)
    return mirror


def make_guarded_mirror(original: Path, base: Path, roots: Sequence[Path], left_out: Path) -> Mirror:
    """The same at its place below `base`, with links around it for all else that lies in the guarded `roots`."""
    shutil.rmtree(base, ignore_errors=True)
    mirror = Mirror(original, _below(base, original), base, left_out)
    mirror.fill(original, mirror.folder)
    for root in roots:
        mirror.frame(root)
    return mirror


def _below(base: Path, path: Path) -> Path:
    return base / path.relative_to("/")


def _state_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns
