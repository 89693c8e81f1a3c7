"""A run's rows as CSV: a line per step or sample, a column per counter, empty where it was not measured."""

from __future__ import annotations

import csv
from typing import TextIO

from tenure.exporting.process_rows import ProcessRows, RunRows
from tenure.model.row_columns import Column
from tenure.store.format import MICROSECONDS, MISSING
from tenure.store.row_tables import OF_EACH_ROW, Table


def write_csv(run: RunRows, stream: TextIO) -> int:
    """Write all rows and give back their number; one block of rows is in memory at a time. May raise OSError."""
    writer = csv.writer(stream, lineterminator="\n")
    whose = ("process", "rank") if run.by_rank else ()
    writer.writerow((*whose, *OF_EACH_ROW, *run.counters))
    count = 0
    for process, table in run.tables():
        columns = _columns(run, process, table)
        writer.writerows(zip(*columns, strict=True))
        count += len(table["step"])
    return count


def _columns(run: RunRows, process: ProcessRows, table: Table) -> list[list[object]]:
    length = len(table["step"])
    whose: list[list[object]] = [[process.name] * length, [process.rank] * length] if run.by_rank else []
    of_each = [table["step"].tolist(), *((table[name] / MICROSECONDS).tolist() for name in ("time", "seconds"))]
    return [*whose, *of_each, *(_values(column, length) for column in run.columns(table))]


def _values(column: Column | None, length: int) -> list[object]:
    """Numbers, None where there is none."""
    if column is None:
        return [None] * length
    values: list[object] = column.tolist()
    if (column == MISSING).any():
        return [None if value == MISSING else value for value in values]
    return values
