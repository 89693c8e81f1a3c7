"""Changed files back onto the disk: whole or not at all, with the mode they had."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from tenure.errors import SourceError
from tenure.syntax.files.documents import Document


def write_document(before: Document, after: Document) -> None:
    """Put `after` in the place of `before`; a link keeps pointing where it did.

    Raises SourceError, in one line, where the file or its folder is read-only, or the file is not the one that was
    read any more; it is then as it was.
    """
    path = before.source.path
    try:
        file = Path(os.path.realpath(path))
        mode = file.stat().st_mode
        if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(file, os.W_OK):
            raise SourceError(f"{path}: not changed: the file is read-only")
        if file.read_bytes() != before.data:
            raise SourceError(f"{path}: not changed: somebody else changed it meanwhile")
        _replace(file, after.data, stat.S_IMODE(mode))
    except OSError as error:
        raise SourceError(f"{path}: not changed: {error.strerror or error}") from None


def _replace(file: Path, data: bytes, mode: int) -> None:
    number, unfinished = tempfile.mkstemp(prefix=".tenure-", dir=file.parent)
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(number)
        Path(unfinished).chmod(mode)
        Path(unfinished).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(unfinished).unlink()
        raise
