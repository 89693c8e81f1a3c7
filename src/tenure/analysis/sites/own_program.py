"""The program's own files, read as one: what its text tells of values and calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.program.program import Program


def own_program(sources: Mapping[str, SourceFile]) -> Program:
    """All files of the user's. Kept for the next question."""
    return _program(tuple(each for each in sources.values() if each.origin == "yours"))


@lru_cache(maxsize=1)
def _program(sources: tuple[SourceFile, ...]) -> Program:
    return Program(sources)
