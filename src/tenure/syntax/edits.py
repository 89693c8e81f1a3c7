"""Changes of source text by lines: made from insertions into expressions, and applied. Other text stays as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Insertion:
    """Text to put at a place of a syntax tree: `column` counts bytes of UTF-8, as there."""

    line: int
    column: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text of one file with all edits made; their line numbers are those of the given text.

    An edit with an empty `before` inserts a line in front of its `line`. Raises SourceError where a line is not what
    an edit expects.
    """
    lines = _split(text)
    for edit in sorted(edits, key=lambda each: (-each.line, not each.before)):
        at = edit.line - 1
        if not edit.before:
            if 0 < at <= len(lines) and not _end_of(lines[at - 1]):
                lines[at - 1] += "\n"
            lines.insert(at, edit.after + (_end_of(lines[at - 1]) if 0 < at <= len(lines) else "\n"))
            continue
        found = lines[at] if 0 <= at < len(lines) else ""
        if found[: len(found) - len(_end_of(found))] != edit.before:
            raise SourceError(f"{edit.file}:{edit.line}: the line is not the one that was to be changed")
        lines[at] = edit.after + _end_of(found)
    return "".join(lines)


def insert_into_lines(source: SourceFile, insertions: Sequence[Insertion]) -> tuple[Edit, ...]:
    """One edit per line that the insertions change; none where the changed file could not be parsed."""
    lines = _split(source.text)
    after = {each.line: lines[each.line - 1].encode() for each in insertions}
    for each in sorted(insertions, key=lambda each: (each.line, each.column), reverse=True):
        line = after[each.line]
        after[each.line] = line[: each.column] + each.text.encode() + line[each.column :]
    edits = [
        Edit(source.path, line, _without_end(lines[line - 1]), _without_end(text.decode()))
        for line, text in sorted(after.items())
    ]
    return only_if_it_parses(source, edits)


def replace_expression(source: SourceFile, node: ast.expr, text: str) -> tuple[Edit, ...]:
    """The edit that writes something else in place of an expression; none where it spans several lines."""
    if node.lineno != node.end_lineno or node.end_col_offset is None:
        return ()
    line = _without_end(_split(source.text)[node.lineno - 1])
    raw = line.encode()
    changed = raw[: node.col_offset] + text.encode() + raw[node.end_col_offset :]
    return (Edit(source.path, node.lineno, line, changed.decode()),)


def insert_line(source: SourceFile, line: int, text: str) -> tuple[Edit, ...]:
    """The edit that puts a line in front of `line`; none where the changed file could not be parsed."""
    return only_if_it_parses(source, [Edit(source.path, line, "", text)])


def only_if_it_parses(source: SourceFile, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, or none where the file with them is no Python."""
    try:
        ast.parse(apply_edits(source.text, edits))
    except (SyntaxError, ValueError, RecursionError, SourceError):
        return ()
    return tuple(edits)


def _split(text: str) -> list[str]:
    """Lines with their ends, as Python counts them: form feeds and the like do not end one."""
    lines, start = [], 0
    for end in _LINE_END.finditer(text):
        lines.append(text[start : end.end()])
        start = end.end()
    return [*lines, text[start:]] if start < len(text) else lines


def _end_of(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _without_end(line: str) -> str:
    return line.rstrip("\r\n")
