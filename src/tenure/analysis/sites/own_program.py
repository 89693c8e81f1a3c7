"""The program's own files, read as one: what its text tells of values and calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program


def own_program(sources: Mapping[str, SourceFile]) -> Program:
    """All files of the user's. Kept for the next question."""
    return _program(tuple(each for each in sources.values() if each.origin == "yours"))


@lru_cache(maxsize=1)
def _program(sources: tuple[SourceFile, ...]) -> Program:
    return Program(sources)


def function_at(program: Program, source: SourceFile, line: int) -> Function | None:
    """The innermost function of a file around a line, its top level included."""
    around = [
        each
        for each in program.names.functions_in(source)
        if getattr(each.node, "lineno", 0) <= line <= (getattr(each.node, "end_lineno", None) or line)
    ]
    return max(around, key=lambda each: getattr(each.node, "lineno", 0), default=None)
