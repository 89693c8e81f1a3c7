"""Changed files as a unified diff, byte for byte: `patch -p0` and `git apply -p0` take it."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_NO_END = b"\n\\ No newline at end of file\n"


def as_diff(path: str, before: bytes, after: bytes) -> bytes:
    """The diff of one file, named from the working folder where it lies below it; empty where nothing changed."""
    name = os.fsencode(_from_here(path))
    old, new = (_LINE.findall(data) for data in (before, after))
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, name, name)
    return b"".join(line if line.endswith(b"\n") else line + _NO_END for line in lines)


def _from_here(path: str) -> str:
    given = Path(path)
    return str(given.relative_to(Path.cwd())) if given.is_relative_to(Path.cwd()) else str(given)
