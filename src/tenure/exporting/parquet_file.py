"""A run's rows as a Parquet file, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenure.errors import UsageError
from tenure.exporting.process_rows import ProcessRows, RunRows
from tenure.model.row_columns import Column
from tenure.store.format import MICROSECONDS, MISSING
from tenure.store.row_tables import Table
from tenure.store.whole_file import whole_file


def write_parquet(run: RunRows, path: str | Path) -> int:
    """Write all rows and give back their number; a block of rows is a row group, and alone in memory.

    Counters are 64-bit integers, null where a row has none; `time` and `seconds` are seconds. The file gets its name
    when it is whole. UsageError without pyarrow; may raise OSError.
    """
    arrow, parquet = _import_arrow()
    schema, count = _schema(arrow, run), 0
    with (
        whole_file(Path(path)) as unfinished,
        parquet.ParquetWriter(unfinished, schema, compression="zstd") as writer,
    ):
        for process, table in run.tables():
            writer.write_table(arrow.table(_columns(arrow, run, process, table), schema=schema))
            count += len(table["step"])
    return count


def _schema(arrow: Any, run: RunRows) -> Any:
    whose = [("process", arrow.string()), ("rank", arrow.int32())] if run.by_rank else []
    of_each = [("step", arrow.int64()), ("time", arrow.float64()), ("seconds", arrow.float64())]
    return arrow.schema([*whose, *of_each, *((name, arrow.int64()) for name in run.counters)])


def _columns(arrow: Any, run: RunRows, process: ProcessRows, table: Table) -> list[Any]:
    length = len(table["step"])
    whose = [[process.name] * length, [process.rank] * length] if run.by_rank else []
    of_each = [table["step"], table["time"] / MICROSECONDS, table["seconds"] / MICROSECONDS]
    return [*whose, *of_each, *(_values(arrow, column, length) for column in run.columns(table))]


def _values(arrow: Any, column: Column | None, length: int) -> Any:
    if column is None:
        return arrow.nulls(length, arrow.int64())
    return arrow.array(column, arrow.int64(), mask=column == MISSING)


def _import_arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("--parquet needs pyarrow; `pip install pyarrow`, or --csv, which needs nothing") from None
    return pyarrow, pyarrow.parquet
