"""Files that appear whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write beside it and rename; what could not be written leaves nothing behind. May raise OSError."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise
