"""What a rule says of source text alone: a statement that will keep memory alive once it runs."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.model.finding import Edit


@dataclass(frozen=True)
class SourceFinding:
    """One cause in one place of a file; lines count from 1, columns from 1 in characters, ends are exclusive.

    `remedy` says what to change in one sentence; `edits` carry it out where the change is mechanical, and are `safe`
    where they cannot change what the program computes. `place` is what the statement stores into, as written
    (`self.history`), "" where it is no such statement.
    """

    rule: str
    name: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    message: str
    remedy: str
    edits: tuple[Edit, ...] = ()
    safe: bool = False
    place: str = ""
    cell: int | None = None
    """Of a notebook: the place of the cell, counted from 1; lines are then those of the cell."""
