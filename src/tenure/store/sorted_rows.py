"""The rows of a recording that are no steps or samples, sorted by what they are."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenure.errors import NewerFormatError
from tenure.model.recording import CensusEntry, HistoryEntry, Note, ParametersEntry, ProfileEntry, ProgramEnd, Step
from tenure.store.format import (
    CENSUS,
    END,
    FORMAT,
    HEADER,
    HISTORY,
    NOTE,
    PARAMETERS,
    PHASE,
    PROFILE,
    SOURCE,
    STEP,
)
from tenure.store.row_reading import read_row


@dataclass
class SortedRows:
    """Rows sorted by what they are, while a file is read."""

    steps: list[Step] = field(default_factory=list)
    censuses: list[CensusEntry] = field(default_factory=list)
    profiles: list[ProfileEntry] = field(default_factory=list)
    histories: list[HistoryEntry] = field(default_factory=list)
    parameters: list[ParametersEntry] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    sources: dict[str, tuple[str, str]] = field(default_factory=dict)
    end: dict[str, Any] | None = None
    header_seen: bool = False
    damaged: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def take(self, line: bytes) -> None:
        """Sort in one line; a line that is no row counts as damaged."""
        try:
            row = json.loads(line)
            kind = str(row["kind"])
            if kind == HEADER:
                self._take_header(row)
            elif kind == STEP:
                self.steps.append(read_row(row, Step))  # format 1
            elif kind == CENSUS:
                self.censuses.append(_read_census_entry(row))
            elif kind == PROFILE:
                file = Path(str(row["file"])).name
                self.profiles.append(ProfileEntry(int(row["step"]), file, float(row["seconds"])))
            elif kind == PARAMETERS:
                values = (int(row["step"]), str(row["digest"]), int(row["count"]), float(row["norm"]))
                self.parameters.append(ParametersEntry(*values, row.get("optimizer")))
            elif kind == HISTORY:
                self.histories.append(_read_history_entry(row))
            elif kind == NOTE:
                self.notes.append(Note(str(row["level"]), str(row["text"]), row.get("step"), _read_program_end(row)))
            elif kind == SOURCE:
                self.sources[str(row["path"])] = (str(row["file"]), str(row.get("origin", "yours")))
            elif kind == END:
                self.end = {name: value for name, value in row.items() if name != "kind"}
            elif kind != PHASE:
                self.unknown[kind] += 1
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.damaged += 1

    def describe_losses(self) -> list[Note]:
        """One note each for damaged rows and for kinds of rows that this version does not know."""
        notes = []
        if self.damaged:
            text = "the last row was torn" if self.damaged == 1 else f"{self.damaged} rows were damaged"
            notes.append(Note("warning", f"{text} and left out; the program or the disk stopped while writing"))
        for kind, count in sorted(self.unknown.items()):
            notes.append(Note("info", f"{count} rows of the unknown kind {kind!r} were left out"))
        return notes

    def _take_header(self, row: dict[str, Any]) -> None:
        written = int(row["format"])
        if written > FORMAT:
            raise NewerFormatError(
                f"the recording is of format {written}; this Tenure reads up to {FORMAT}: upgrade Tenure"
            )
        self.header_seen = True


def _read_history_entry(row: dict[str, Any]) -> HistoryEntry:
    return HistoryEntry(
        step=int(row["step"]),
        reason=str(row["reason"]),
        file=Path(str(row["file"])).name,
        num_events=int(row["num_events"]),
        seconds=float(row["seconds"]),
    )


def _read_program_end(row: dict[str, Any]) -> ProgramEnd | None:
    code = row.get("exit_code")
    return None if code is None else ProgramEnd(int(code), row.get("ended_at"))


def _read_census_entry(row: dict[str, Any]) -> CensusEntry:
    return CensusEntry(
        step=int(row["step"]),
        moment=str(row["moment"]),
        file=Path(str(row["file"])).name,
        seconds=float(row["seconds"]),
        num_objects=int(row["num_objects"]),
        bytes_by_role=_by_role(row, "bytes_by_role"),
        storages_by_role=_by_role(row, "storages_by_role"),
        tensors_by_role=_by_role(row, "tensors_by_role"),
    )


def _by_role(row: dict[str, Any], name: str) -> dict[str, int]:
    return {str(role): int(value) for role, value in row.get(name, {}).items()}
