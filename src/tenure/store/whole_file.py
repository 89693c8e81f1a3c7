"""Files that appear whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to: it gets that name once the block is over. A block that fails leaves what was
    there before, and nothing else. May raise OSError."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def write_whole(path: Path, text: str) -> None:
    """A file of text. May raise OSError."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
