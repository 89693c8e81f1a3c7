"""The rows of a run's processes side by side, as CSV and Parquet have them: one order of columns for all tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.model.row_columns import COUNTER, Column
from tenure.store.recording_file import list_recordings, open_recording
from tenure.store.row_tables import RowTables, Table, read_tables


@dataclass(frozen=True)
class ProcessRows:
    """One process: its name within the run, its rank where it has one, and its rows."""

    name: str
    rank: int | None
    tables: RowTables


@dataclass(frozen=True)
class RunRows:
    """All processes of a run; `counters` are those that any of them has, in the order in which they first come.

    `by_rank` says that there are several processes or ranks, so that rows must say whose they are.
    """

    processes: tuple[ProcessRows, ...]
    counters: tuple[str, ...]
    by_rank: bool

    def tables(self) -> Iterator[tuple[ProcessRows, Table]]:
        """Tables of at most a block of rows, process after process."""
        for process in self.processes:
            for table in process.tables:
                yield process, table

    def columns(self, table: Table) -> Sequence[Column | None]:
        """The table's counters in the order of `counters`; None where it has none of that name."""
        return [table.get(COUNTER + name) for name in self.counters]


def read_run(folder: str | Path, kind: str) -> RunRows:
    """The rows of `kind` (`steps` or `samples`) of each recording in `folder`; empty where there is none yet."""
    processes = tuple(_read_process(folder, path, kind) for path in list_recordings(folder))
    counters = dict.fromkeys(name for process in processes for name in process.tables.counters)
    by_rank = len(processes) > 1 or any(process.rank is not None for process in processes)
    return RunRows(processes, tuple(counters), by_rank)


def _read_process(folder: str | Path, path: str, kind: str) -> ProcessRows:
    rank = open_recording(path).process.get("rank")
    return ProcessRows(name_of(folder, path), rank if isinstance(rank, int) else None, read_tables(path, kind))


def name_of(folder: str | Path, path: str | Path) -> str:
    """`rank-00001` for a recording below the run's folder, `main` for the run's own."""
    return "main" if Path(path) == Path(folder) else Path(path).name
