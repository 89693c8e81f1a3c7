"""A recording that is being written, read again and again: each time only what is new since the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from tenure.errors import RecordingError
from tenure.model.recording import CensusEntry, Note, Recording, Sample, Step
from tenure.model.row_columns import Column, RowColumns
from tenure.store.format import MICROSECONDS, MISSING, ROWS_FILE, SAMPLES, STEPS, name_tail_file
from tenure.store.growing_file import GrowingFile
from tenure.store.recording_file import find_stop, keep_whole_censuses, read_process
from tenure.store.row_blocks import Block, KnownColumns, find_blocks
from tenure.store.row_reading import join_rows, list_blocks, parse_rows
from tenure.store.sorted_rows import SortedRows
from tenure.store.staging import describe_staged
from tenure.store.tail_columns import TailColumns

Row = TypeVar("Row")


class FollowedRecording:
    """One process's recording, opened for as long as somebody looks at it.

    `read` gives back what `open_recording` would; a line that is not ended yet waits for the next time.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        folder = Path(path)
        self._folder = folder
        self._process: dict[str, Any] | None = None
        self._lines = GrowingFile(folder / ROWS_FILE)
        self._rows = SortedRows()
        self._steps = _FollowedRows(folder, STEPS, Step)
        self._samples = _FollowedRows(folder, SAMPLES, Sample)
        self._whole: dict[str, CensusEntry] = {}

    def read(self) -> Recording:
        """The recording as it is now; costs what is new. RecordingError as `open_recording`."""
        if self._process is None:
            self._process = read_process(self._folder)
        for line in self._lines.new_lines():
            self._rows.take(line)
        if not self._rows.header_seen:
            raise RecordingError(f"{self._folder / ROWS_FILE} holds no whole row yet")
        steps, samples = self._steps.read(), self._samples.read()
        rows = self._rows
        censuses, lost = self._whole_censuses()
        notes = [*rows.notes, *rows.describe_losses(), *lost, *self._steps.notes, *self._samples.notes]
        notes += describe_staged(self._folder)
        joined = join_rows(rows.steps, steps)
        stopped, end = find_stop(self._folder, rows.notes, joined)
        return Recording(
            path=self.path,
            process=self._process,
            steps=joined,
            censuses=censuses,
            notes=(*notes, *stopped),
            sources={path: file for path, (file, _) in rows.sources.items()},
            end=rows.end or end,
            profiles=tuple(entry for entry in rows.profiles if (self._folder / entry.file).exists()),
            histories=tuple(entry for entry in rows.histories if (self._folder / entry.file).exists()),
            parameters=tuple(rows.parameters),
            samples=samples,
        )

    def _whole_censuses(self) -> tuple[tuple[CensusEntry, ...], list[Note]]:
        unknown = [entry for entry in self._rows.censuses if entry.file not in self._whole]
        found, lost = keep_whole_censuses(self._folder, unknown)
        self._whole.update((entry.file, entry) for entry in found)
        return tuple(entry for entry in self._rows.censuses if entry.file in self._whole), lost


class _FollowedRows(Generic[Row]):
    """Rows of one kind: the tail from where it was read last, blocks when there are new ones."""

    def __init__(self, folder: Path, kind: str, make: Callable[..., Row]) -> None:
        self._folder = folder
        self._kind = kind
        self._make = make
        self._tail = GrowingFile(folder / name_tail_file(kind))
        self._rows = TailColumns()
        self._files: list[Path] = []
        self._blocks: list[Block] = []
        self._columns = KnownColumns()
        self._unsure = False
        self.notes: tuple[Note, ...] = ()

    def read(self) -> Sequence[Row]:
        """All rows so far, in order."""
        files = self._read_tail()
        if files != self._files:
            self._take_blocks(files)
        blocks, known = tuple(self._blocks), self._columns
        tail = self._rows.after(blocks[-1].last_time if blocks else None)
        # The tail begins anew after its block was written: until that was seen its lines are no others' successors.
        self._unsure = len(tail) < len(self._rows)

        def load(name: str) -> Column:
            older = known.column(blocks, name) if blocks else tail.column(name)[:0]
            return np.concatenate([older, tail.column(name)])

        names = dict.fromkeys([*(name for block in blocks for name in block.names), *tail.names])
        return RowColumns(tuple(names), load, self._make, per_second=MICROSECONDS, missing=MISSING)

    def _read_tail(self) -> list[Path]:
        """Take the tail's new lines; the blocks that were there before and after, so that no row is in neither."""
        known = self._files
        while True:
            files = list_blocks(self._folder, self._kind)
            if files != known or self._unsure or self._tail.has_shrunk():
                self._tail.restart()
                self._rows, self._unsure = TailColumns(), False
            self._rows.add(parse_rows(self._tail.new_lines())[0])
            known = list_blocks(self._folder, self._kind)
            if known == files:
                return files

    def _take_blocks(self, files: list[Path]) -> None:
        new = [file for file in files if file not in self._files]
        blocks, notes = find_blocks(new)
        self._blocks += blocks
        self.notes += notes
        self._files = files
