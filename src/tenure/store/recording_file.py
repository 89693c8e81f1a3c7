"""A recording as a folder: rows appended while the program runs, read back whole whatever happened to it."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from tenure.errors import RecordingError
from tenure.model.recording import CensusEntry, Note, Recording, Sample, Step
from tenure.model.source import SourceFile, decode_source
from tenure.store.appending import append_whole
from tenure.store.format import (
    END,
    FORMAT,
    HEADER,
    NOTE,
    PROCESS_FILE,
    ROWS_FILE,
    SAMPLES,
    SOURCES_FOLDER,
    STEPS,
)
from tenure.store.last_words import give_room_back, leave_last_words, read_last_words, take_room
from tenure.store.row_log import Row, RowLog
from tenure.store.row_reading import join_rows, read_rows
from tenure.store.sorted_rows import SortedRows
from tenure.store.staging import describe_staged

if TYPE_CHECKING:
    from tenure.model.heap import Census

FLUSH_SECONDS = 1.0
DISK = "disk"
"""The end of a recording that could not be written any more; the program went on."""


class RecordingWriter:
    """Appends rows to a process folder. A disk that fails switches it off: `failure` then says why.

    Each flush is one write of whole lines at a file's end, so that a crash can tear only the last row. Rows may be
    added while another thread flushes; no thread waits for another's write unless it must know its own row written.
    """

    def __init__(self, folder: Path, *, process: dict[str, Any]) -> None:
        self.folder = folder
        self.failure: str | None = None
        self.is_open = True
        self._pending: deque[str] = deque()
        self._logs = {kind: RowLog(folder, kind) for kind in (STEPS, SAMPLES)}
        self._flushing = threading.Lock()
        self._last_flush = monotonic()
        try:
            (folder / PROCESS_FILE).write_text(json.dumps(process, indent=1) + "\n", encoding="utf-8")
            take_room(folder)
        except OSError as error:
            self._give_up(error)
        self.append({"kind": HEADER, "format": FORMAT, "time": process.get("time")}, flush=True)

    @property
    def num_lost(self) -> int:
        """Rows that were dropped because the disk did not answer for long."""
        return sum(log.num_lost for log in self._logs.values())

    def append(self, row: dict[str, Any], *, flush: bool = False) -> None:
        """Add one row; it reaches the file within a second of the next rows, or at once with `flush`."""
        if not self.is_open:
            return
        self._pending.append(json.dumps(row, separators=(",", ":")))
        if flush:
            self.flush()
        else:
            self.flush_if_due()

    def add_row(self, kind: str, row: Row) -> bool:
        """Add a step or a sample; False where the disk has failed."""
        if self.is_open:
            self._logs[kind].add(row)
            if monotonic() - self._last_flush >= FLUSH_SECONDS:
                self.flush(wait=False)
        return self.failure is None

    def flush_if_due(self, *, seconds: float = FLUSH_SECONDS) -> None:
        """Flush where the last time lies so long ago, unless another thread is just flushing."""
        if monotonic() - self._last_flush >= seconds:
            self.flush(wait=False)

    def flush(self, *, wait: bool = True) -> None:
        """Hand all rows to the operating system. They survive the process, not a power cut."""
        if not self.is_open or not self._flushing.acquire(blocking=wait):
            return
        try:
            self._last_flush = monotonic()
            self._write_all()
        except OSError as error:
            self._give_up(error)
        finally:
            self._flushing.release()

    def close(self) -> None:
        """Flush and close; more rows are ignored."""
        self.flush()
        if self.is_open:
            give_room_back(self.folder)
        self.is_open = False

    def abandon(self) -> None:
        """Close without writing: for a forked child, whose rows are its parent's."""
        self.is_open = False
        self._flushing = threading.Lock()
        self._forget()

    def _write_all(self) -> None:
        lines = [self._pending.popleft() for _ in range(len(self._pending))]
        if lines:
            append_whole(self.folder / ROWS_FILE, ("\n".join(lines) + "\n").encode())
        for log in self._logs.values():
            log.flush()

    def _give_up(self, error: OSError) -> None:
        self.failure = f"cannot write the recording {self.folder}: {error.strerror or error}"
        self.is_open = False
        leave_last_words(self.folder, self.failure)
        self._forget()

    def _forget(self) -> None:
        self._pending.clear()
        for log in self._logs.values():
            log.forget()


def open_recording(path: str | Path) -> Recording:
    """Read one process's recording, however its program ended. What could not be read is said in its notes."""
    folder = Path(path)
    process = read_process(folder)
    rows = SortedRows()
    for line in _read_lines(folder):
        rows.take(line)
    if not rows.header_seen:
        raise RecordingError(f"{folder / ROWS_FILE} holds no whole row; nothing was recorded before it was cut")
    steps, samples = read_rows(folder, STEPS, Step), read_rows(folder, SAMPLES, Sample)
    rows.damaged += steps.damaged + samples.damaged
    censuses, lost = keep_whole_censuses(folder, rows.censuses)
    notes = [*rows.notes, *rows.describe_losses(), *lost, *steps.notes, *samples.notes, *describe_staged(folder)]
    joined = join_rows(rows.steps, steps.rows)
    stopped, end = find_stop(folder, rows.notes, joined)
    return Recording(
        path=str(folder),
        process=process,
        steps=joined,
        censuses=censuses,
        notes=(*notes, *stopped),
        sources={path: file for path, (file, _) in rows.sources.items()},
        end=rows.end or end,
        profiles=tuple(entry for entry in rows.profiles if (folder / entry.file).exists()),
        histories=tuple(entry for entry in rows.histories if (folder / entry.file).exists()),
        parameters=tuple(rows.parameters),
        samples=samples.rows,
    )


def read_census(recording: Recording | str | Path, entry: CensusEntry | None = None) -> Census:
    """The census of one entry of an opened recording, or the one in a file. Imports NumPy."""
    from tenure.store import census_file

    if isinstance(recording, Recording):
        if entry is None:
            raise TypeError("which census of the recording? pass one of recording.censuses")
        return census_file.read_census(Path(recording.path) / entry.file)
    path = Path(recording)
    return census_file.read_census(path if entry is None else path / entry.file)


def read_sources(recording: Recording) -> tuple[SourceFile, ...]:
    """The program's source files as they were when they ran; files that are gone are left out."""
    origins = {row.get("path"): str(row.get("origin", "yours")) for row in _source_rows(Path(recording.path))}
    files = []
    for path, name in recording.sources.items():
        try:
            data = (Path(recording.path) / SOURCES_FOLDER / Path(name).name).read_bytes()
        except OSError:
            continue
        files.append(SourceFile(path, _text_of(data), origins.get(path, "yours")))
    return tuple(files)


def _text_of(data: bytes) -> str:
    try:
        text, _ = decode_source(data)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        text = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="replace").read()
    return text


def list_recordings(path: str | Path) -> list[str]:
    """The process folders of a run, itself included, main process first; empty where nothing was recorded."""
    folder = Path(path)
    if not folder.is_dir():
        raise RecordingError(f"{folder}: no such folder; `tenure run -o {folder} train.py` makes one")
    below = sorted(child for child in folder.iterdir() if (child / PROCESS_FILE).is_file())
    own = [folder] if (folder / PROCESS_FILE).is_file() else []
    return [str(found) for found in own + below]


def add_exit_code(path: str | Path, code: int, *, at: float | None = None) -> None:
    """Complete an ended recording from outside: a Python program does not learn its own exit code.

    A recording without an end row (killed, crashed, os._exit) gets a note instead, so that its end stays unknown.
    `at` is when it was seen, in seconds since 1970.
    """
    recording = open_recording(path)
    row: dict[str, Any]
    if recording.end is not None:
        row = {"kind": END, **recording.end, "exit_code": code}
    else:
        how = f"by signal {-code}" if code < 0 else f"at once with exit code {code}"
        row = {"kind": NOTE, "level": "info", "step": None, "exit_code": code}
        row["text"] = f"the program was ended {how}; the last second of steps may be missing"
    if at is not None:
        row["ended_at"] = round(at, 3)
    with (Path(path) / ROWS_FILE).open("ab") as file:
        # After a kill the last row may be torn: begin on a line of our own.
        file.write(b"\n" + json.dumps(row, separators=(",", ":")).encode() + b"\n")


def find_stop(
    folder: Path, notes: Sequence[Note], steps: Sequence[Step]
) -> tuple[tuple[Note, ...], dict[str, Any] | None]:
    """Of a recording that could not be written any more, as its last words say: a note, and its end; else neither.

    Where there was room for a note of the same failure that one says it.
    """
    failure = read_last_words(folder)
    if not failure:
        return (), None
    reason = failure.rpartition(": ")[2]
    told = any(note.level == "failure" and note.text.rpartition(": ")[2] == reason for note in notes)
    found = () if told else (Note("warning", _describe_failure(failure, steps), None),)
    return found, {"reason": DISK}


def _describe_failure(failure: str, steps: Sequence[Step]) -> str:
    after = f"after step {steps[-1].step}" if steps else "before the first step"
    return f"recording stopped {after}, the program went on: {failure}"


def read_process(folder: Path) -> dict[str, Any]:
    """What process.json says. RecordingError where it is missing or damaged."""
    path = folder / PROCESS_FILE
    try:
        process = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecordingError(_describe_missing(folder)) from None
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} is damaged ({error}); the recording cannot be read") from error
    if not isinstance(process, dict):
        raise RecordingError(f"{path} is damaged (no JSON object); the recording cannot be read")
    return process


def _describe_missing(folder: Path) -> str:
    if not folder.exists():
        return f"{folder}: no such recording; `tenure run -o {folder} train.py` makes one"
    below = [child.name for child in sorted(folder.iterdir()) if (child / PROCESS_FILE).is_file()]
    if below:
        return f"{folder} holds the recordings of {len(below)} processes; open one of {', '.join(below[:4])}"
    return f"{folder} holds no recording (no {PROCESS_FILE}); is it the folder that `tenure run -o` named?"


def _read_lines(folder: Path) -> list[bytes]:
    try:
        return [line for line in (folder / ROWS_FILE).read_bytes().split(b"\n") if line.strip()]
    except FileNotFoundError:
        raise RecordingError(f"{folder} has no {ROWS_FILE}; the recording cannot be read") from None
    except OSError as error:
        raise RecordingError(f"cannot read {folder / ROWS_FILE}: {error.strerror or error}") from error


def keep_whole_censuses(folder: Path, entries: Sequence[CensusEntry]) -> tuple[tuple[CensusEntry, ...], list[Note]]:
    """Those whose files are whole, and a note on each of the others.

    A zip file's directory stands at its end, so a cut census shows without reading its columns.
    """
    kept, notes = [], []
    for entry in entries:
        if zipfile.is_zipfile(folder / entry.file):
            kept.append(entry)
            continue
        state = "is cut" if (folder / entry.file).exists() else "is missing"
        notes.append(Note("warning", f"{entry.file} {state} and was left out", entry.step))
    return tuple(kept), notes


def _source_rows(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for line in _read_lines(folder):
        if b'"kind":"source"' in line:
            try:
                rows.append(json.loads(line))
            except ValueError:
                continue
    return rows
