"""Whole lines at a file's end, in one write."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def append_whole(path: Path, data: bytes) -> None:
    """One write; what a full disk took in part is taken back, so that later rows begin on a line of their own.

    Opened each time: a program that closes all descriptors, as daemons do, may soon own the number of ours.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        before = os.fstat(file).st_size
        written = os.write(file, data)
        if written < len(data):
            os.ftruncate(file, before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)
