"""A file of lines that another process appends to, read again and again."""

from __future__ import annotations

import os
from pathlib import Path


class GrowingFile:
    """The whole lines that came since it was read last, once each; a line that is not ended yet waits."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_to = 0

    def restart(self) -> None:
        """Begin with the first line again."""
        self._read_to = 0

    def has_shrunk(self) -> bool:
        """Whether it was emptied since."""
        try:
            return self._path.stat().st_size < self._read_to
        except OSError:
            return self._read_to > 0

    def new_lines(self) -> list[bytes]:
        """What came since the last time, from the start again where the file was cut; nothing while there is none."""
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._read_to:
                    self._read_to = 0
                file.seek(self._read_to)
                data = file.read()
        except OSError:
            return []
        whole = data.rfind(b"\n") + 1
        self._read_to += whole
        return [line for line in data[:whole].split(b"\n") if line.strip()]
