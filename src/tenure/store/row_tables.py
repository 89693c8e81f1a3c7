"""Rows of steps and samples as tables of columns, one block after another: a long run is never in memory whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tenure.model.row_columns import COUNTER, Column
from tenure.store.format import BLOCK_ROWS, STEPS
from tenure.store.recording_file import open_recording
from tenure.store.row_blocks import Block, read_column
from tenure.store.row_log import make_columns
from tenure.store.row_reading import dict_of, find_parts

OF_EACH_ROW = ("step", "time", "seconds")

Table = dict[str, Column]
"""`step`, `time` and `seconds` in microseconds, and `counters.NAME`, where `MISSING` says that a row has none."""


@dataclass(frozen=True)
class RowTables:
    """The rows of one kind of one process; `counters` are those that any of its rows has."""

    counters: tuple[str, ...]
    blocks: tuple[Block, ...]
    rest: tuple[dict[str, Any], ...]

    def __iter__(self) -> Iterator[Table]:
        """Tables of at most `BLOCK_ROWS` rows, in order; each has the columns of its own rows alone."""
        for block in self.blocks:
            yield {name: read_column([block], name) for name in block.names}
        for start in range(0, len(self.rest), BLOCK_ROWS):
            columns = make_columns(self.rest[start : start + BLOCK_ROWS])
            yield {name: np.array(values, dtype=np.int64) for name, values in columns.items()}


def read_tables(folder: str | Path, kind: str) -> RowTables:
    """The tables of `kind` (`steps` or `samples`) in a process's folder. RecordingError where it is no recording."""
    recording = open_recording(folder)
    parts = find_parts(Path(folder), kind)
    rest = parts.tail
    if kind == STEPS and not parts.blocks:  # in format 1 they stand among all other rows
        rest = [dict_of(row.step, row.time, row.seconds, row.counters) for row in recording.steps]
    names = dict.fromkeys(name.removeprefix(COUNTER) for block in parts.blocks for name in block.names)
    names |= dict.fromkeys(name for row in rest for name in row.get("counters", {}))
    counters = tuple(name for name in names if name not in OF_EACH_ROW)
    return RowTables(counters, tuple(parts.blocks), tuple(rest))
