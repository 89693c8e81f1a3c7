"""Blocks of rows by column, read one column at a time: a run of a million steps is open before they are read."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tenure.model.recording import Note
from tenure.model.row_columns import Column
from tenure.store.format import MISSING

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
_MAGIC = b"\x93NUMPY\x01\x00"


@dataclass(frozen=True)
class Block:
    """One file of columns: their names, how many rows it has, and the time of its last row."""

    path: Path
    names: tuple[str, ...]
    num_rows: int
    last_time: int


def find_blocks(files: Sequence[Path]) -> tuple[list[Block], tuple[Note, ...]]:
    """The blocks that can be read, in order, and a note on each that cannot."""
    blocks, notes = [], []
    for file in files:
        try:
            blocks.append(_look_into(file))
        except _UNREADABLE as error:
            notes.append(Note("warning", f"{file.name} is damaged ({error}); its rows were left out"))
    return blocks, tuple(notes)


def read_column(blocks: Sequence[Block], name: str) -> Column:
    """One column of all blocks; `MISSING` where a block does not have it, or it is damaged."""
    return np.concatenate([_of_block(block, name) for block in blocks])


def last_values(files: Sequence[Path], wanted: Collection[str] | None = None) -> dict[str, int]:
    """Each column's last value that is there, files in order, or of the `wanted` columns alone; reads each column once.
    Damaged files are passed over."""
    found: dict[str, int] = {}
    for file in reversed(files):
        try:
            with zipfile.ZipFile(file) as archive:
                for name in (name.removesuffix(".npy") for name in archive.namelist()):
                    if name not in found and (wanted is None or name in wanted):
                        column = _read(archive, name)
                        there = column[column != MISSING]
                        if len(there):
                            found[name] = int(there[-1])
        except _UNREADABLE:
            continue
    return found


class KnownColumns:
    """Columns of blocks that were read before are not read again: for who looks at a growing recording many times.

    Takes 8 bytes per row and counter asked for.
    """

    def __init__(self) -> None:
        self._columns: dict[str, tuple[int, Column]] = {}

    def column(self, blocks: Sequence[Block], name: str) -> Column:
        """As `read_column`, of blocks that begin with those of the last time."""
        known, column = self._columns.get(name, (0, np.empty(0, dtype=np.int64)))
        if known < len(blocks):
            column = np.concatenate([column, read_column(blocks[known:], name)])
            self._columns[name] = (len(blocks), column)
        return column


def _look_into(file: Path) -> Block:
    with zipfile.ZipFile(file) as archive:
        names = tuple(name.removesuffix(".npy") for name in archive.namelist())
        steps, times, seconds = (_read(archive, name) for name in ("step", "time", "seconds"))
    if not len(steps) == len(times) == len(seconds) > 0:
        raise ValueError("its columns differ in length")
    return Block(file, names, len(steps), int(times[-1]))


def _of_block(block: Block, name: str) -> Column:
    if name in block.names:
        try:
            with zipfile.ZipFile(block.path) as archive:
                column = _read(archive, name)
            if len(column) == block.num_rows:
                return column
        except _UNREADABLE:
            pass
    return np.full(block.num_rows, MISSING, dtype=np.int64)


def _read(archive: zipfile.ZipFile, name: str) -> Column:
    """As `row_log.write_columns` wrote it, which costs a third of what `np.load` takes for any array."""
    data = archive.read(f"{name}.npy")
    start = 10 + int.from_bytes(data[8:10], "little")
    if not data.startswith(_MAGIC) or b"'<i8'" not in data[:start]:
        raise ValueError(f"column {name} is of another kind")
    return np.frombuffer(data, dtype="<i8", offset=start).astype(np.int64, copy=False)
