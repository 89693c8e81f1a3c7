"""Copies of the allocator's record in a recording: when somebody asks, when memory runs out, at the end."""

from __future__ import annotations

import pickle
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenure.capture.sampling import allocator_history
from tenure.store.format import name_history_file

OUT_OF_MEMORY, TREND, EXIT = "out-of-memory", "trend", "exit"
MOST_OUT_OF_MEMORY = 3
"""Copies at errors of memory that ran out: a loop that tries again and again must not fill the disk."""


@dataclass(frozen=True)
class WrittenHistory:
    """A copy that lies in the recording: its file, events in it (0: nothing recorded them), and seconds it took."""

    file: str
    num_events: int
    seconds: float


def write_history(folder: Path, reason: str, *, step: int = 0) -> WrittenHistory | None:
    """Write the allocator's segments, blocks and record into `folder` as torch writes them; None without a device.

    A file of the final name is whole. May raise OSError, or RuntimeError by torch.
    """
    backend = allocator_history.started_backend()
    if backend is None:
        return None
    started = time.perf_counter()
    found = allocator_history.copy_history(backend)
    if not found:
        return None
    name = name_history_file(step, reason)
    temporary = folder / f".{name}.tmp"
    try:
        with temporary.open("wb") as file:
            pickle.dump(found, file, protocol=4)
        temporary.replace(folder / name)
    finally:
        temporary.unlink(missing_ok=True)
    events = sum(len(trace) for trace in found.get("device_traces") or ())
    return WrittenHistory(name, events, round(time.perf_counter() - started, 6))


class HistoryOfRecording:
    """The record of one recording; `begin` is called until the program has started a device.

    `entries` is how many allocations are recorded from then on, 0 for none: without them copies have blocks and no
    stacks. `write` makes a copy with its row (`Journal.write_history`), `run` runs it so that no failure of it
    reaches the program.
    """

    def __init__(
        self,
        write: Callable[[str], WrittenHistory | None],
        note: Callable[[str, str], None],
        *,
        entries: int = 0,
        on_out_of_memory: Callable[[], None],
    ) -> None:
        self._write = write
        self._note = note
        self._entries = entries
        self._on_out_of_memory = on_out_of_memory
        self._num_out_of_memory = 0
        self._watched = False
        self._recording = False

    def begin(self) -> None:
        """Where the program has started a device since: wait for its errors, and record if that was asked for."""
        backend = None if self._watched else allocator_history.started_backend()
        if backend is None:
            return
        self._watched = True
        this = weakref.ref(self)  # the observer stays for as long as the process

        def tenure_out_of_memory(device: int, asked: int, total: int, free: int) -> None:
            found = this()
            if found is not None:
                found._on_out_of_memory()

        if not allocator_history.call_when_out_of_memory(backend, tenure_out_of_memory):
            self._note("info", "not seen: errors of device memory that runs out; this torch does not tell of them")
        if self._entries:
            self.record()

    def record(self) -> bool:
        """Have the allocator record from now on; false where it does already, or there is no device."""
        backend = allocator_history.started_backend()
        if backend is None or self._recording:
            return False
        self._recording = True
        begun = allocator_history.begin(backend, entries=self._entries or allocator_history.MOST_ENTRIES)
        if begun:
            self._note("info", "the allocator records allocations with their stacks from here on")
        return begun

    def write(self, reason: str) -> WrittenHistory | None:
        """A copy now; None where there is no device or it cannot be written, which a note says."""
        try:
            return self._write(reason)
        except (OSError, RuntimeError) as error:
            self._note("warning", f"the allocator's record was not written: {error}")
            return None

    def write_out_of_memory(self) -> bool:
        """A copy where memory has run out, of the first few times only; whether this was the first."""
        self._num_out_of_memory += 1
        if self._num_out_of_memory <= MOST_OUT_OF_MEMORY:
            self.write(OUT_OF_MEMORY if self._num_out_of_memory == 1 else f"{OUT_OF_MEMORY}-{self._num_out_of_memory}")
        return self._num_out_of_memory == 1

    def finish(self) -> None:
        """A last copy where a record was asked for; where no device was started that is said."""
        if self._recording:
            self.write(EXIT)
        elif self._entries:
            self._note("info", "no allocator's record: the program has started no device that keeps one")


def describe_row(written: WrittenHistory, *, reason: str, step: int) -> dict[str, Any]:
    """The row of a recording that says it."""
    return {
        "step": step,
        "reason": reason,
        "file": written.file,
        "num_events": written.num_events,
        "seconds": written.seconds,
    }
