"""Rows of steps and samples read back: blocks of columns, then the tail of lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tenure.model.recording import Note
from tenure.store.format import MICROSECONDS, MISSING, name_tail_file

if TYPE_CHECKING:
    from tenure.model.row_columns import Column
    from tenure.store.row_blocks import Block

Row = TypeVar("Row")
_BLOCK_NUMBER = "[0-9]" * 6


@dataclass(frozen=True)
class RowsRead(Generic[Row]):
    """The rows of one kind in order, how many lines were no rows, and notes on blocks that could not be read."""

    rows: Sequence[Row]
    damaged: int
    notes: tuple[Note, ...]


def read_row(row: dict[str, Any], make: Callable[..., Row]) -> Row:
    """A `Step` or `Sample` of one line's values; the usual errors of values that are not there or no numbers."""
    counters = {str(name): int(value) for name, value in row.get("counters", {}).items()}
    return make(int(row["step"]), float(row["time"]), float(row["seconds"]), counters)


@dataclass(frozen=True)
class RowParts:
    """The rows of one kind as they lie on the disk: blocks of columns, and the lines that came after them."""

    blocks: Sequence[Block]
    tail: list[dict[str, Any]]
    damaged: int
    notes: tuple[Note, ...]


def find_parts(folder: Path, kind: str) -> RowParts:
    """Where all rows of `kind` in a recording's folder are; NumPy is loaded where there are blocks."""
    lines, damaged = _read_tail(folder / name_tail_file(kind))
    files = list_blocks(folder, kind)
    if not files:
        return RowParts((), lines, damaged, ())
    from tenure.store.row_blocks import find_blocks

    blocks, notes = find_blocks(files)
    return RowParts(blocks, rows_after(blocks, lines) if blocks else lines, damaged, notes)


def rows_after(blocks: Sequence[Block], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tail's rows that no block has: a crash between the end of a block and the tail's new beginning left them in
    both."""
    last = blocks[-1].last_time
    return [line for line in lines if round(line["time"] * MICROSECONDS) > last]


def list_blocks(folder: Path, kind: str) -> list[Path]:
    """The files of columns, oldest first."""
    return sorted(folder.glob(f"{kind}-{_BLOCK_NUMBER}.npz"))


def read_rows(folder: Path, kind: str, make: Callable[..., Row]) -> RowsRead[Row]:
    """All rows of `kind` in a recording's folder; a run of fewer than a block is read without NumPy."""
    parts = find_parts(folder, kind)
    if not parts.blocks:
        return RowsRead(tuple(read_row(line, make) for line in parts.tail), parts.damaged, parts.notes)
    from tenure.store.row_blocks import read_column

    return RowsRead(rows_of(parts.blocks, parts.tail, make, read_column), parts.damaged, parts.notes)


def join_rows(old: Sequence[Row], new: Sequence[Row]) -> Sequence[Row]:
    """Rows of format 1, which stand among all others, before those that have files of their own."""
    return (*old, *new) if old else new


def _read_tail(path: Path) -> tuple[list[dict[str, Any]], int]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return [], 0
    return parse_rows(lines)


def parse_rows(lines: Iterable[bytes]) -> tuple[list[dict[str, Any]], int]:
    """Lines as rows, and how many were none."""
    texts = [line for line in lines if line.strip()]
    rows = _parse_at_once(texts)
    if rows is None:
        rows = [_parse_one(text) for text in texts]
    whole = [row for row in rows if row is not None and (_is_plain(row) or _is_row(row))]
    return whole, len(texts) - len(whole)


def _parse_at_once(texts: Sequence[bytes]) -> list[Any] | None:
    """All lines by one call, in half the time; None where one of them is damaged."""
    try:
        rows: list[Any] = json.loads(b"[" + b",".join(texts) + b"]")
    except (ValueError, RecursionError):
        return None
    return rows if len(rows) == len(texts) else None


def _parse_one(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_plain(row: Any) -> bool:
    """Whether it is a row as the recorder writes them."""
    try:
        plain = type(row["step"]) is int and type(row["time"]) is float and type(row["seconds"]) is float
        return plain and not set(map(type, row["counters"].values())) - {int}
    except (KeyError, TypeError, AttributeError):
        return False


def _is_row(row: Any) -> bool:
    try:
        read_row(row, dict_of)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def dict_of(step: int, time: float, seconds: float, counters: dict[str, int]) -> dict[str, Any]:
    """The row as plain values."""
    return {"step": step, "time": time, "seconds": seconds, "counters": counters}


def rows_of(
    blocks: Sequence[Block],
    tail: list[dict[str, Any]],
    make: Callable[..., Row],
    read_column: Callable[[Sequence[Block], str], Column],
) -> Sequence[Row]:
    """Blocks and what came after them as one row of rows, of which each column is read when it is asked for."""
    import numpy as np

    from tenure.model.row_columns import COUNTER, RowColumns
    from tenure.store.tail_columns import column_of

    kinds = dict.fromkeys(tuple(row.get("counters", ())) for row in tail)
    counters = [f"{COUNTER}{name}" for kind in kinds for name in kind]
    names = dict.fromkeys([*(name for block in blocks for name in block.names), *counters])
    return RowColumns(
        tuple(names),
        lambda name: np.concatenate([read_column(blocks, name), np.array(column_of(tail, name), dtype=np.int64)]),
        make,
        per_second=MICROSECONDS,
        missing=MISSING,
    )
