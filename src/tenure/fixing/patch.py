"""Patches: unified diffs as `git apply` and `patch -p1` take them, read strictly and written the same way."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tenure.errors import PatchError

CONTEXT_LINES = 3
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_OF_PACKAGE = re.compile(r"# (?P<path>\S.*) is of (?P<name>\S+) (?P<version>\S+)$")
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_NO_END = "\\ No newline at end of file\n"
NOWHERE = "/dev/null"


@dataclass(frozen=True)
class Hunk:
    """Lines, with their ends, that stand from line `start` on, and those that come in their place."""

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Package:
    """An installed distribution, by name and version."""

    name: str
    version: str


@dataclass(frozen=True)
class FileChange:
    """The hunks of one file. Where it is of a `package`, `path` is relative to where that is installed."""

    path: str
    hunks: tuple[Hunk, ...]
    package: Package | None = None


def read_patch(data: bytes, *, name: str) -> tuple[FileChange, ...]:
    """The changes that a patch makes, file by file. Raises PatchError, with `name` and line, where it cannot be read.

    Bytes that are no UTF-8 are kept as surrogate escapes, as `apply_change` does.
    """
    reader = _Reader(_lines_of(data), name)
    changes = tuple(reader.read_all())
    if not changes:
        raise PatchError(f"{name} holds no change; it is to be a unified diff, as `tenure fix -o {name}` writes it")
    twice = next((change.path for at, change in enumerate(changes) if change.path in _paths(changes[:at])), None)
    if twice is not None:
        raise PatchError(f"{name} changes {twice} twice")
    return changes


def apply_change(data: bytes, change: FileChange, *, name: str) -> bytes:
    """The changed text of a file that has `data`. Raises PatchError where a line is not what the patch expects."""
    lines = _lines_of(data)
    changed, done = [], 0
    for hunk in change.hunks:
        at = hunk.start - 1 if hunk.before else hunk.start
        found = lines[at : at + len(hunk.before)]
        if at < done or tuple(found) != hunk.before:
            raise PatchError(_describe_misfit(change.path, hunk, at, lines, name=name))
        changed += [*lines[done:at], *hunk.after]
        done = at + len(hunk.before)
    return _encode("".join([*changed, *lines[done:]]))


def write_patch(
    texts: Mapping[str, tuple[bytes, bytes]],
    *,
    head: Sequence[str] = (),
    packages: Mapping[str, Package] | None = None,
) -> bytes:
    """A patch of the texts before and after by path, with comment lines before it."""
    packages = packages or {}
    comments = [f"# {line}\n" for line in head]
    comments += [f"# {path} is of {each.name} {each.version}\n" for path, each in packages.items()]
    diffs = [_diff(path, before, after) for path, (before, after) in texts.items() if before != after]
    return _encode("".join([*comments, *diffs]))


def _diff(path: str, before: bytes, after: bytes) -> str:
    end = "\t" if any(letter in path for letter in " \t") else ""
    lines = difflib.unified_diff(
        _lines_of(before),
        _lines_of(after),
        f"{path if path.startswith('/') else 'a/' + path}{end}",
        f"{path if path.startswith('/') else 'b/' + path}{end}",
        n=CONTEXT_LINES,
    )
    return "".join(line if line.endswith("\n") else line + "\n" + _NO_END for line in lines)


def _lines_of(data: bytes) -> list[str]:
    """Lines end at a line feed alone: a form feed or a lone carriage return is part of one."""
    parts = data.decode("utf-8", "surrogateescape").split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _paths(changes: Sequence[FileChange]) -> set[str]:
    return {change.path for change in changes}


def _describe_misfit(path: str, hunk: Hunk, at: int, lines: Sequence[str], *, name: str) -> str:
    if hunk.after and tuple(lines[at : at + len(hunk.after)]) == hunk.after:
        return f"{path} has the change of {name} already (line {hunk.start}); run it without"
    pairs = zip(hunk.before, [*lines[at:], *[""] * len(hunk.before)], strict=False)
    offset, (expected, found) = next(
        ((offset, pair) for offset, pair in enumerate(pairs) if pair[0] != pair[1]), (0, (hunk.before or ("",), ("",)))
    )
    there = f"has {_short(found)!r}" if found else "is behind its end"
    return f"{name} does not fit {path}: line {at + offset + 1} {there} where the patch expects {_short(expected)!r}"


def _short(line: object) -> str:
    text = str(line).strip()
    return text if len(text) <= 60 else text[:57] + "..."


class _Reader:
    def __init__(self, lines: list[str], name: str) -> None:
        self._lines = lines
        self._name = name
        self._at = 0

    def read_all(self) -> Iterator[FileChange]:
        packages: dict[str, Package] = {}
        while self._at < len(self._lines):
            line = self._lines[self._at]
            said = _OF_PACKAGE.match(line.rstrip("\r\n"))
            if said:
                packages[said["path"]] = Package(said["name"], said["version"])
            if line.startswith(("GIT binary patch", "Binary files ")):
                raise self._error("a binary file cannot be edited on import")
            if line.startswith("--- ") and self._next_line().startswith("+++ "):
                change = self._read_file()
                yield replace(change, package=packages.get(change.path))
            elif line.startswith("@@ "):
                raise self._error("a hunk without the two lines that name its file")
            else:
                self._at += 1

    def _read_file(self) -> FileChange:
        before, after = self._take()[4:], self._take()[4:]
        old, new = _unquote(before), _unquote(after)
        if NOWHERE in (old, new):
            raise self._error("files are neither made nor removed on import", back=1)
        if old.startswith("a/") and new.startswith("b/"):
            new = new[2:]
        hunks = []
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            hunks.append(self._read_hunk())
        if not hunks:
            raise self._error(f"no hunk follows for {new}")
        return FileChange(new, tuple(hunks))

    def _read_hunk(self) -> Hunk:
        head = _HUNK.match(self._take())
        if head is None:
            raise self._error("a hunk begins with `@@ -line,count +line,count @@`", back=1)
        left, right = (1 if head[at] is None else int(head[at]) for at in (2, 3))
        before: list[str] = []
        after: list[str] = []
        while len(before) < left or len(after) < right:
            if self._at >= len(self._lines):
                raise self._error("the last hunk ends early")
            line = self._take()
            mark, text = (line[0], line[1:]) if line not in ("\n", "\r\n") else (" ", line)
            if mark not in " -+":
                raise self._error("a hunk ends early", back=1)
            sides = {" ": (before, after), "-": (before,), "+": (after,)}[mark]
            for side in sides:
                side.append(text)
            if self._at < len(self._lines) and self._lines[self._at].startswith("\\"):
                self._at += 1
                for side in sides:
                    side[-1] = side[-1].removesuffix("\n")
        return Hunk(int(head[1]), tuple(before), tuple(after))

    def _take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _next_line(self) -> str:
        return self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""

    def _error(self, what: str, *, back: int = 0) -> PatchError:
        return PatchError(f"{self._name}:{min(self._at + 1 - back, len(self._lines))}: {what}")


def _unquote(named: str) -> str:
    """A file's name as `---` and `+++` lines write it: without its time, and without git's quotes."""
    named = named.rstrip("\r\n").partition("\t")[0]
    if len(named) < 2 or not named.startswith('"') or not named.endswith('"'):
        return named
    raw = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1]) or chr(int(found[1], 8)), named[1:-1])
    return raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
