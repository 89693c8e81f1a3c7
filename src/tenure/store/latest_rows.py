"""What a recording says last, read further at each look: cheap however long the run is, and however often asked."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenure.errors import NewerFormatError
from tenure.model.row_columns import COUNTER
from tenure.store.format import CENSUS, END, FORMAT, HEADER, MICROSECONDS, NOTE, PROCESS_FILE, ROWS_FILE, name_tail_file
from tenure.store.growing_file import GrowingFile
from tenure.store.row_reading import list_blocks


class LatestRow:
    """The newest row of one kind (`steps`, `samples`), and the newest value of each counter in any row."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder = folder
        self._kind = kind
        self._tail = GrowingFile(folder / name_tail_file(kind))
        self._last_block = ""
        self.step = 0
        self.time = 0.0
        self.seconds = 0.0
        self.counters: dict[str, int] = {}

    def look(self) -> None:
        """Read what came since the last look: new blocks, each column once, then lines of the tail."""
        new = [file for file in list_blocks(self._folder, self._kind) if file.name > self._last_block]
        if new:
            from tenure.store.row_blocks import last_values

            self._take_block(last_values(new))
            self._last_block = new[-1].name
            self._tail.restart()  # it began anew, and may be longer again than it was
        for line in self._tail.new_lines():
            self._take_line(line)

    def _take_block(self, values: dict[str, int]) -> None:
        self.step = values.pop("step", self.step)
        self.time = values.pop("time", self.time * MICROSECONDS) / MICROSECONDS
        self.seconds = values.pop("seconds", self.seconds * MICROSECONDS) / MICROSECONDS
        self.counters |= {name.removeprefix(COUNTER): value for name, value in values.items()}

    def _take_line(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            step, time, seconds = int(row["step"]), float(row["time"]), float(row["seconds"])
            counters = {str(name): int(value) for name, value in row.get("counters", {}).items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        if time >= self.time:  # a crash may have left rows in the tail that a block has too
            self.step, self.time, self.seconds = step, time, seconds
            self.counters |= counters


@dataclass
class Happened:
    """What rows other than steps and samples say together."""

    num_censuses: int = 0
    last_census: dict[str, Any] = field(default_factory=dict)
    num_notes: Counter[str] = field(default_factory=Counter)
    end: str | None = None

    def take(self, row: dict[str, Any]) -> None:
        """Add one row. NewerFormatError where it says that this version cannot read the others."""
        kind = row.get("kind")
        if kind == HEADER and int(row["format"]) > FORMAT:
            raise NewerFormatError(
                f"the recording is of format {row['format']}; this Tenure reads up to {FORMAT}: upgrade Tenure"
            )
        if kind == CENSUS:
            self.num_censuses += 1
            self.last_census = row
        elif kind == NOTE:
            self.num_notes[str(row["level"])] += 1
        elif kind == END:
            self.end = str(row.get("reason"))


class LatestRows:
    """One process's recording, whether its program still runs or not."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.process = _read_process(self.folder)
        self.steps = LatestRow(self.folder, "steps")
        self.samples = LatestRow(self.folder, "samples")
        self.happened = Happened()
        self._rows = GrowingFile(self.folder / ROWS_FILE)

    def look(self) -> None:
        """Read what came since the last look; milliseconds for a million steps at first, then less."""
        if not self.process:
            self.process = _read_process(self.folder)
        self.steps.look()
        self.samples.look()
        for line in self._rows.new_lines():
            try:
                row = json.loads(line)
                self.happened.take(row)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue


def _read_process(folder: Path) -> dict[str, Any]:
    """process.json; empty while it is being written."""
    try:
        process = json.loads((folder / PROCESS_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return process if isinstance(process, dict) else {}
