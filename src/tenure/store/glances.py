"""What a recording says last, read from the ends of its files: hundreds of ranks cost what one costs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenure.errors import RecordingError
from tenure.model.recording import ProgramEnd, Recording, Step
from tenure.model.row_columns import COUNTER, STEP, TIME
from tenure.store.format import MICROSECONDS, ROWS_FILE, STEPS, name_tail_file
from tenure.store.growing_file import GrowingFile
from tenure.store.last_words import read_last_words
from tenure.store.recording_file import DISK, read_process
from tenure.store.row_reading import list_blocks, parse_rows
from tenure.store.sorted_rows import SortedRows

LAST_BYTES = 1 << 15
"""Of a tail of lines: some dozens of rows, of which one in ten has counters where steps are quick."""
_TOLD = (b'"kind":"header"', b'"kind":"end"', b'"exit_code":')
_STEP = b'"kind":"step"'


@dataclass(frozen=True)
class Glance:
    """The last step, its time in seconds since the recording began, the newest value of each counter that is asked
    for, and how it ended as `Recording` says it."""

    path: str
    process: dict[str, Any]
    steps: int = 0
    seconds: float = 0.0
    counters: dict[str, int] = field(default_factory=dict)
    end: str | None = None
    program_end: ProgramEnd | None = None


class GlancedRecording:
    """One process's recording, looked at again and again; `counters` are those that are asked for."""

    def __init__(self, path: str | Path, counters: Sequence[str]) -> None:
        self._folder = Path(path)
        self._names = tuple(counters)
        self._process: dict[str, Any] | None = None
        self._lines = GrowingFile(self._folder / ROWS_FILE)
        self._rows = SortedRows()
        self._tail = self._folder / name_tail_file(STEPS)
        self._tail_state = (-1, 0)
        self._last = (0, 0.0)
        self._counters: dict[str, int] = {}

    def look(self) -> Glance:
        """A tenth of a millisecond where nothing is new, a millisecond else. RecordingError as `open_recording`."""
        if self._process is None:
            self._process = read_process(self._folder)
        self._take_rows()
        if not self._rows.header_seen:
            raise RecordingError(f"{self._folder / ROWS_FILE} holds no whole row yet")
        self._take_steps()
        ended = Recording(
            path=str(self._folder),
            process=self._process,
            steps=(),
            censuses=(),
            notes=tuple(self._rows.notes),
            sources={},
            end=self._rows.end or ({"reason": DISK} if read_last_words(self._folder) else None),
        )
        return Glance(
            ended.path, self._process, *self._last, dict(self._counters), ended.how_it_ended, ended.program_end
        )

    def _take_rows(self) -> None:
        """The rows that say how it ended; of format 1, which has steps among them, the last of those."""
        lines = self._lines.new_lines()
        for line in [each for each in lines if any(word in each for word in _TOLD)]:
            self._rows.take(line)
        for line in [each for each in lines if _STEP in each][-1:]:
            self._rows.steps.clear()
            self._rows.take(line)
            self._take(self._rows.steps)

    def _take(self, steps: Sequence[Step]) -> None:
        for row in steps:
            self._last = row.step, row.time
            self._counters |= {name: row.counters[name] for name in self._names if name in row.counters}

    def _take_steps(self) -> None:
        rows = self._new_rows()
        if rows is None:
            return
        found = [Step(int(row["step"]), float(row["time"]), 0.0, row.get("counters", {})) for row in rows]
        if not found or any(name not in self._counters for name in self._names):
            self._take_block()
        self._take([row for row in found if row.time >= self._last[1]])

    def _new_rows(self) -> list[dict[str, Any]] | None:
        """The tail's last rows; None where it is as it was."""
        try:
            with self._tail.open("rb") as file:
                found = os.fstat(file.fileno())
                size, state = found.st_size, (found.st_size, found.st_mtime_ns)
                if state == self._tail_state:
                    return None
                file.seek(max(0, size - LAST_BYTES))
                data = file.read(LAST_BYTES)
        except OSError:
            return []
        self._tail_state = state
        begins = data.find(b"\n") + 1 if size > LAST_BYTES else 0
        return parse_rows(data[begins : data.rfind(b"\n") + 1].split(b"\n"))[0]

    def _take_block(self) -> None:
        """The last row of the newest block that can be read."""
        from tenure.store.row_blocks import last_values

        wanted = (STEP, TIME, *(f"{COUNTER}{name}" for name in self._names))
        values = last_values(list_blocks(self._folder, STEPS)[-2:], wanted)
        if STEP in values and values.get(TIME, 0) / MICROSECONDS >= self._last[1]:
            self._last = values.pop(STEP), values.pop(TIME, 0) / MICROSECONDS
            self._counters |= {name.removeprefix(COUNTER): value for name, value in values.items()}
