"""Recordings of a few steps, written as the recorder writes them, with blocks of four rows."""

from __future__ import annotations

import json
from pathlib import Path

from tenure.store.recording_file import RecordingWriter

KIB, GIB = 1 << 10, 1 << 30


class WrittenRun:
    """A recording that can be written further; odd steps lack `allocated_bytes`, the first alone has the device."""

    def __init__(self, folder: Path, *, rank: int | None = None) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.writer = RecordingWriter(folder, process={"rank": rank, "tenure": "9.9", "torch": "2.13.0"})
        self.step = 0

    def add_steps(self, count: int) -> WrittenRun:
        for self.step in range(self.step + 1, self.step + count + 1):
            counters = {"rss_bytes": self.step * KIB}
            if self.step == 1:
                counters |= {"device_index": 0, "device_total_bytes": 8 * GIB, "num_ooms": 0}
            if self.step % 2 == 0:
                counters["allocated_bytes"] = GIB + self.step
            self._add("steps", {"step": self.step, "time": self.step / 4, "seconds": 0.25, "counters": counters})
        return self

    def add_sample(self, **counters: int) -> WrittenRun:
        row = {"step": self.step, "time": self.step / 4 + 0.1, "seconds": 0.001, "counters": counters}
        self._add("samples", row)
        return self

    def add(self, **row: object) -> WrittenRun:
        self.writer.append(row, flush=True)
        return self

    def _add(self, kind: str, row: dict[str, object]) -> None:
        self.writer.add_row(kind, json.dumps(row))
        self.writer.flush()
