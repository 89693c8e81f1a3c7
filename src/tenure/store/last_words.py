"""Why a recording ends before its program, in room that was taken when there was some.

On a full disk nothing new can be written, but bytes that a file has already can be changed (not where the file system
copies what it changes, as btrfs does: there the reason stays unknown, as after a kill).
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

LAST_WORDS_FILE = "last-words.json"
_ROOM = 1024


def take_room(folder: Path) -> None:
    """A file of blanks. May raise OSError."""
    (folder / LAST_WORDS_FILE).write_bytes(b" " * _ROOM)


def leave_last_words(folder: Path, failure: str) -> None:
    """Into the room that was taken; nothing where there is none. Of too long a text its end, with the reason."""
    while len(words := json.dumps({"failure": failure}).encode()) > _ROOM:
        failure = failure[len(failure) // 8 + 1 :]
    with suppress(OSError):
        file = os.open(folder / LAST_WORDS_FILE, os.O_WRONLY)
        try:
            os.pwrite(file, words.ljust(_ROOM), 0)
        finally:
            os.close(file)


def give_room_back(folder: Path) -> None:
    """Where a recording ends well."""
    with suppress(OSError):
        (folder / LAST_WORDS_FILE).unlink()


def read_last_words(folder: Path) -> str:
    """Why the recorder stopped; "" where it did not, or could not say."""
    try:
        return str(json.loads((folder / LAST_WORDS_FILE).read_text(encoding="utf-8"))["failure"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
