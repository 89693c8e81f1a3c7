"""Rows that come at every step, on the disk in little room: the newest as JSON lines, older ones as columns.

Standard library only: this runs in the user's process, which may have no NumPy.
"""

from __future__ import annotations

import errno
import json
import os
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tenure.store.appending import append_whole
from tenure.store.format import BLOCK_ROWS, MICROSECONDS, MISSING, name_block_file, name_tail_file
from tenure.store.whole_file import whole_file

MOST_WAITING = 1 << 16
"""Rows that wait for a disk which does not answer; later ones are lost and counted."""

MOST_AS_THEY_ARE = 4096
"""Of them are kept as they came; text, which takes half the memory, is made of those after."""

Row = str | tuple[int, float, float, Mapping[str, int]]
"""Step, time and seconds, and counters by name, which stay as they are; or the JSON text of that without a line break.
"""


class RowLog:
    """Rows of one kind (`steps`, `samples`) of a recording's folder.

    `add` may be called while another thread is in `flush`; `flush` by one thread at a time.
    """

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder = folder
        self._kind = kind
        self._waiting: deque[Row] = deque()
        self._num_in_tail = 0
        self._num_blocks = 0
        self.num_lost = 0

    def add(self, row: Row) -> None:
        """Take one row; it waits for the next flush."""
        number = len(self._waiting)
        if number >= MOST_WAITING:
            self.num_lost += 1
            return
        self._waiting.append(row if number < MOST_AS_THEY_ARE else row_text(row))

    def flush(self) -> None:
        """Hand what waits to the operating system. May raise OSError.

        A block that is full is read back from the tail and becomes a file of columns, and the tail begins anew: about
        50 ms for `BLOCK_ROWS` rows. No row is kept in memory till then: the recorder's own growth would be taken for
        the program's. A crash between the two leaves rows twice, which readers see.
        """
        new: list[str] = []
        for _ in range(len(self._waiting)):
            line = row_text(self._waiting.popleft())
            new.append(line)
            if self._num_in_tail + len(new) == BLOCK_ROWS:
                self._close_block(new)
                new.clear()
        if new:
            append_whole(self._folder / name_tail_file(self._kind), ("\n".join(new) + "\n").encode())
            self._num_in_tail += len(new)

    def forget(self) -> None:
        """Write nothing of what waits: it is another process's, or there is no disk."""
        self._waiting.clear()
        self._num_in_tail = 0

    def _close_block(self, new: Iterable[str]) -> None:
        self._num_blocks += 1
        final = self._folder / name_block_file(self._kind, self._num_blocks)
        with whole_file(final) as unfinished:
            write_columns(unfinished, make_columns(map(_read_back, chain(self._lines_in_tail(), new))))
        tail = self._folder / name_tail_file(self._kind)
        if tail.exists():
            os.truncate(tail, 0)
        self._num_in_tail = 0

    def _lines_in_tail(self) -> Iterator[str]:
        if self._num_in_tail:
            with (self._folder / name_tail_file(self._kind)).open(encoding="utf-8") as file:
                yield from islice(file, self._num_in_tail)


def row_text(row: Row) -> str:
    """JSON text, made by hand: there is one for each step."""
    if isinstance(row, str):
        return row
    step, time, seconds, counters = row
    text = f'{{"step":{step},"time":{time:.6f},"seconds":{seconds:.6f}'
    if counters:
        text += ',"counters":{' + ",".join([f'"{name}":{value}' for name, value in counters.items()]) + "}"
    return text + "}"


def _read_back(line: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:  # someone else wrote there
        raise OSError(errno.EIO, f"{os.strerror(errno.EIO)}: a row is not as it was written ({error})") from None
    return row


def make_columns(rows: Iterable[dict[str, Any]]) -> dict[str, array[int]]:
    """Whole numbers by name: `step`, `time` and `seconds` in microseconds, and one column for each counter.

    A counter that a row does not have is `MISSING` there.
    """
    step, time, seconds = array("q"), array("q"), array("q")
    columns: dict[str, array[int]] = {}
    missing = array("q", [MISSING])
    for number, row in enumerate(rows):
        step.append(row["step"])
        time.append(round(row["time"] * MICROSECONDS))
        seconds.append(round(row["seconds"] * MICROSECONDS))
        for name, value in row.get("counters", {}).items():
            column = columns.setdefault(name, array("q"))
            if len(column) < number:
                column.extend(missing * (number - len(column)))
            column.append(value)
    for column in columns.values():
        column.extend(missing * (len(step) - len(column)))
    counters = {f"counters.{name}": column for name, column in columns.items()}
    return {"step": step, "time": time, "seconds": seconds, **counters}


def write_columns(path: Path, columns: dict[str, array[int]]) -> None:
    """A compressed `.npz` as NumPy writes it (NEP 1, version 1.0 of the format), without NumPy. May raise OSError."""
    import zipfile

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, values in columns.items():
            header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(values)},), }}".encode()
            header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
            start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
            file.writestr(f"{name}.npy", start + header + _little(values))


def _little(values: array[int]) -> bytes:
    import sys

    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()
