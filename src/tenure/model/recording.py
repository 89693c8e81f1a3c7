"""A recording: everything written while a run was watched, in the order it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

EVALUATION = "evaluation-"
"""Begins the moment of a census within an evaluation; the number of the model's call since the last step follows."""

EVALUATION_WITH_GRAPH = f"{EVALUATION}graph-"
"""The same where the model is in evaluation mode, autograd is on, and the training calls it in training mode."""

EVALUATION_RETURNED = f"{EVALUATION}returned-"
"""The same as such a call has just given its output back, with the graph that it recorded."""

EVALUATION_BACKWARD = "evaluation_backward"
"""The counter that is 1 where a backward pass went through what such a call of the step gave back."""

EVALUATION_UNUSUAL = f"{EVALUATION}training-"
"""The same as a call in training mode has given back a graph, one of more calls than any step before had."""

UNUSUAL_BACKWARD = "unusual_backward"
"""The counter that tells through which of the step's unusual calls a backward pass went first, by its number."""

OUT_OF_MEMORY = "out-of-memory"
"""Moment of a census taken where device memory ran out, inside the step."""

LOADING, SAVING = "loading-", "saving-"
"""Begin the moments of censuses as a call begins that loads or saves the state of a model; a number follows."""

PEAK = "peak"
"""Moment of a census at a profiled step's peak, inside the step."""

AUTOCAST_CACHE = "autocast weight cache"
"""Name of the root, in a census, that holds what only autocast's cache keeps."""

PROFILER_RUNS = "profiler_runs"
"""The counter that is 1 where a profiler of torch's was recording as the step ended, and the fact that one did."""

COMPILES = "The program compiles code: calls of modules from within it were not seen."
"""Text of the note that says so."""

GROWS = "Memory grows:"
"""Begins the notes of the recorder's own closer looks."""


def is_at_state_call(moment: str) -> bool:
    """Whether a census was taken as a call began that loads or saves the state of a model."""
    return moment.startswith((LOADING, SAVING))


def is_within_step(moment: str) -> bool:
    """Whether a census was taken where the program was at work on something, which it has in hand then."""
    return moment in (PEAK, OUT_OF_MEMORY) or moment.startswith(EVALUATION) or is_at_state_call(moment)


@dataclass(frozen=True)
class Step:
    """One optimizer step (or root module call where there is no optimizer); `seconds` since the step before."""

    step: int
    time: float
    seconds: float
    counters: dict[str, int] = field(default_factory=dict)
    """Bytes and counts by name: `rss_bytes`, `allocated_bytes`, `reserved_bytes`, ... absent = not measured."""


@dataclass(frozen=True)
class Sample:
    """What the system counted between steps: after step `step`, at `time`; reading it took `seconds`."""

    step: int
    time: float
    seconds: float
    counters: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CensusEntry:
    """That a census was taken, and where it lies; read it with `store.recording_file.read_census`."""

    step: int
    moment: str
    file: str
    seconds: float
    num_objects: int
    bytes_by_role: dict[str, int] = field(default_factory=dict)
    """Bytes of all storages by their role (`parameter`, `gradient`, ...); empty in recordings of format 1."""
    storages_by_role: dict[str, int] = field(default_factory=dict)
    """How many storages these are; empty in older recordings, like the next."""
    tensors_by_role: dict[str, int] = field(default_factory=dict)
    """How many tensors in Python are views of them."""


@dataclass(frozen=True)
class ProfileEntry:
    """That two steps were profiled, and where that lies; read it with `store.profile_file.read_profile`."""

    step: int
    file: str
    seconds: float


@dataclass(frozen=True)
class HistoryEntry:
    """That the allocator's blocks and its record were copied; read it with `store.torch_snapshot.read_snapshot`.

    `num_events` is 0 where nothing recorded them: blocks are known then, stacks are not.
    """

    step: int
    reason: str
    file: str
    num_events: int
    seconds: float


@dataclass(frozen=True)
class ProgramEnd:
    """How the launcher saw its program end: `code` is minus a signal's number where one ended it, else the exit code;
    `time` is in seconds since 1970, None in older recordings."""

    code: int
    time: float | None = None

    def __str__(self) -> str:
        return f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


@dataclass(frozen=True)
class Note:
    """Something the recorder wants a person to know; `level` is "info", "warning" or "failure" (ours)."""

    level: str
    text: str
    step: int | None = None
    program_end: ProgramEnd | None = None
    """Of the note that the launcher leaves where the program could not write its end."""


@dataclass(frozen=True)
class ParametersEntry:
    """What an optimizer's parameters were after a step: a digest of their bits, their number and 2-norm.

    `optimizer` is its number, in the order of first steps; None in recordings that have one entry for all.
    """

    step: int
    digest: str
    count: int
    norm: float
    optimizer: int | None = None


@dataclass(frozen=True)
class Recording:
    """An opened recording of one process. `path` is its folder; `process` is process.json."""

    path: str
    process: dict[str, Any]
    steps: Sequence[Step]
    """A tuple, or of a long run `model.row_columns.RowColumns`, which make each step when it is asked for."""
    censuses: tuple[CensusEntry, ...]
    notes: tuple[Note, ...]
    sources: dict[str, str]
    """Program path -> file name below `sources/`."""
    end: dict[str, Any] | None
    """The closing row (`reason`, `exit_code`, `own_seconds`), None after a kill or crash."""
    profiles: tuple[ProfileEntry, ...] = ()
    parameters: tuple[ParametersEntry, ...] = ()
    """Written only where it was asked for."""
    samples: Sequence[Sample] = ()
    histories: tuple[HistoryEntry, ...] = ()
    """Copies of the allocator's record whose files are there."""

    @property
    def program_end(self) -> ProgramEnd | None:
        """What the launcher saw, None where none has."""
        if self.end is None:
            return next((note.program_end for note in self.notes if note.program_end is not None), None)
        code, time = self.end.get("exit_code"), self.end.get("ended_at")
        return None if code is None else ProgramEnd(int(code), time)

    @property
    def how_it_ended(self) -> str | None:
        """`exit` and the like, by the closing row; of a program that could not write one `signal 9`, where its launcher
        saw it; None while it runs, and after a kill that nobody saw."""
        if self.end is not None:
            return str(self.end.get("reason"))
        return None if self.program_end is None else str(self.program_end)
