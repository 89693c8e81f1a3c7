"""The user's files, changed at last: all of them or none, each in one step, and only where nothing came in between."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tenure.errors import UsageError


def apply_texts(texts: Mapping[Path, tuple[bytes, bytes]]) -> list[Path]:
    """Write the text after in place of the text before; the files that were changed.

    Raises UsageError, before any file is changed, where one is not as it was when the runs were made, or where its
    folder cannot be written to.
    """
    for path, (before, _) in texts.items():
        if not path.is_file() or path.read_bytes() != before:
            raise UsageError(f"{path} was changed since it ran, so nothing was written; run `tenure fix` again")
    ready: list[tuple[Path, Path]] = []
    try:
        for path, (_, after) in texts.items():
            ready.append((_write_beside(path, after), path))
        while ready:
            unfinished, path = ready[0]
            unfinished.replace(path)
            ready.pop(0)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}") from error
    finally:
        for unfinished, _ in ready:
            unfinished.unlink(missing_ok=True)
    return list(texts)


def _write_beside(path: Path, text: bytes) -> Path:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(text)
    shutil.copymode(path, file.name)
    return Path(file.name)
