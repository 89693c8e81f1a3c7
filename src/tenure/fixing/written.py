"""What a program wrote, kept for comparing before its scratch folder is made afresh."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tenure.fixing.event_files import find_scalars, is_event_file

LARGEST_TEXT = 4 << 20
MOST_TEXT = 64 << 20
"""Texts beyond these are compared as a whole, by their digest."""
_PART = 1 << 20


@dataclass(frozen=True)
class Written:
    """Digests of files by name, and the text of those that can be compared word by word.

    The text of an event file is its scalars, a line for each.
    """

    digests: dict[str, str]
    texts: dict[str, str]


def read_written(files: Mapping[str, Path]) -> Written:
    """Reads each file once. What cannot be read has the digest "unreadable"."""
    digests, texts, room = {}, {}, MOST_TEXT
    for name, path in files.items():
        try:
            digests[name] = _digest(path)
            text = _text_of(path) if path.stat().st_size <= min(LARGEST_TEXT, room) else None
        except OSError:
            digests[name], text = "unreadable", None
        if text is not None:
            texts[name] = text
            room -= len(text)
    return Written(digests, texts)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_PART):
            digest.update(part)
    return digest.hexdigest()


def _text_of(path: Path) -> str | None:
    """None for what is neither text nor an event file."""
    data = path.read_bytes()
    if is_event_file(data):
        return "".join(f"{line}\n" for line in find_scalars(data))
    try:
        return data.decode("utf-8") if b"\0" not in data else None
    except UnicodeDecodeError:
        return None
