"""What edits make of a short program, for tests."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits

FILE = "t.py"


def source_of(text: str) -> SourceFile:
    return SourceFile(FILE, textwrap.dedent(text).lstrip("\n"))


def line_of(source: SourceFile, mark: str = "# here") -> int:
    """The number of the first line that a comment marks."""
    return next(number for number, line in enumerate(source.text.split("\n"), 1) if mark in line)


def changes(source: SourceFile, edits: Iterable[Edit]) -> list[str]:
    """The lines that are new, without the white space in front of them; those that are gone after a `-`."""
    old, new = source.text.splitlines(), apply_edits(source.text, edits).splitlines()
    gone = [f"- {line.strip()}" for line in old if line not in new]
    return gone + [line.strip() for line in new if line not in old]


def new_lines(source: SourceFile, ways: Iterable[Iterable[Edit]]) -> list[str]:
    """The lines that are new, without the white space in front of them, of each of some ways to edit."""
    old = source.text.splitlines()
    texts = [apply_edits(source.text, edits).splitlines() for edits in ways]
    return ["\n".join(line.strip() for line in new if line not in old) for new in texts]
