"""Changes of source text by lines: made from insertions into expressions, and applied. Other text stays as it is."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.text.top_parts import part_around

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Insertion:
    """Text to put at a place of a syntax tree: `column` counts bytes of UTF-8, as there."""

    line: int
    column: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text of one file with all edits made; their line numbers are those of the given text.

    An edit with an empty `before` inserts in front of its `line`. Each line keeps its own end; one that is added takes
    that of its neighbour. Raises SourceError where a line is not what an edit expects.
    """
    lines = split_lines(text)
    for edit in sorted(edits, key=lambda each: (-each.line, not each.before)):
        at = edit.line - 1
        if not edit.before:
            if 0 < at <= len(lines) and not _end_of(lines[at - 1]):
                lines[at - 1] += _usual_end(lines)
            end = _end_of(lines[at - 1]) if 0 < at <= len(lines) else _usual_end(lines)
            lines[at:at] = [part + end for part in _parts(edit.after)]
            continue
        expected = edit.before.split("\n")
        found = lines[at : at + len(expected)] if at >= 0 else []
        if [_without_end(line) for line in found] != expected:
            raise SourceError(f"{edit.file}:{edit.line}: the line is not the one that was to be changed")
        lines[at : at + len(expected)] = _replaced(found, edit.after, _usual_end(lines))
    return "".join(lines)


def overlap(first: Edit, second: Edit) -> bool:
    """Whether two edits of one file change the same line, or insert at the same place: one of them has to wait."""
    if (first.file, first.cell) != (second.file, second.cell):
        return False
    (one, one_end), (two, two_end) = _span(first), _span(second)
    if not first.before and not second.before:
        return one == two
    if not first.before or not second.before:
        at, start, end = (one, two, two_end) if not first.before else (two, one, one_end)
        return start < at <= end
    return one <= two_end and two <= one_end


def edits_between(path: str, before: str, after: str) -> tuple[Edit, ...]:
    """The edits that make one text of another, line by line."""
    old = [_without_end(line) for line in split_lines(before)]
    new = [_without_end(line) for line in split_lines(after)]
    edits = []
    for change, start, end, new_start, new_end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if change == "equal":
            continue
        if old[start:end] == [""]:  # which would read as an insertion
            near = min(start, len(old) - 2)
            start, end, new_start, new_end = near, near + 2, new_start - (start - near), new_end + (near + 1 - start)
        lines = "\n".join(new[new_start:new_end]) if new_end > new_start else None
        edits.append(Edit(path, start + 1, "\n".join(old[start:end]), lines))
    return tuple(edits)


def _span(edit: Edit) -> tuple[int, int]:
    return edit.line, edit.line + edit.before.count("\n")


def _parts(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


def _replaced(found: Sequence[str], after: str | None, usual_end: str) -> list[str]:
    """New lines with the ends of those that they replace; the last one ends as the last one did."""
    parts, ends = _parts(after), [_end_of(line) for line in found]
    ends = [ends[at] if at < len(ends) - 1 else ends[-1] or usual_end for at in range(len(parts) - 1)] + ends[-1:]
    return [part + end for part, end in zip(parts, ends, strict=False)]


def insert_into_lines(source: SourceFile, insertions: Sequence[Insertion]) -> tuple[Edit, ...]:
    """One edit per line that the insertions change; none where the changed file could not be parsed."""
    lines = split_lines(source.text)
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
    line = _without_end(split_lines(source.text)[node.lineno - 1])
    raw = line.encode()
    changed = raw[: node.col_offset] + text.encode() + raw[node.end_col_offset :]
    return (Edit(source.path, node.lineno, line, changed.decode()),)


def write_over(source: SourceFile, changes: Iterable[tuple[ast.AST, str]]) -> tuple[Edit, ...]:
    """The edits that write texts in place of nodes, none of them within another; none where the changed file could not
    be parsed."""
    lines = [line.encode() for line in split_lines(source.text)]
    starts = [0, *accumulate(map(len, lines))]
    raw = b"".join(lines)
    spans = [
        (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset, text)  # type: ignore[attr-defined]
        for node, text in changes
    ]
    for start, end, text in sorted(spans, reverse=True):
        raw = raw[:start] + text.encode() + raw[end:]
    return only_if_it_parses(source, edits_between(source.path, source.text, raw.decode()))


def insert_line(source: SourceFile, line: int, text: str) -> tuple[Edit, ...]:
    """The edit that puts a line in front of `line`; none where the changed file could not be parsed."""
    return only_if_it_parses(source, [Edit(source.path, line, "", text)])


def only_if_it_parses(source: SourceFile, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, or none where the file with them is no Python.

    Costs a parse of what stands around them; of the file where that cannot be parsed alone, as a decorator cannot.
    """
    spans = [(edit.line - (not edit.before), _span(edit)[1]) for edit in edits]
    first, last = min((each for each, _ in spans), default=1), max((each for _, each in spans), default=1)
    text, above = part_around(source, first, last, split_lines(source.text))
    parses = _parses(text, shifted(edits, -above)) or _parses(source.text, edits)
    return tuple(edits) if parses else ()


def _parses(text: str, edits: Sequence[Edit]) -> bool:
    try:
        ast.parse(apply_edits(text, edits))
    except (SyntaxError, ValueError, RecursionError, SourceError):
        return False
    return True


def shifted(edits: Iterable[Edit], lines: int) -> tuple[Edit, ...]:
    """The same edits so many lines further down."""
    return tuple(dataclasses.replace(edit, line=edit.line + lines) for edit in edits)


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends, as Python counts them: form feeds and the like do not end one."""
    return list(_split_lines(text))


@lru_cache(maxsize=8)
def _split_lines(text: str) -> list[str]:
    lines, start = [], 0
    for end in _LINE_END.finditer(text):
        lines.append(text[start : end.end()])
        start = end.end()
    return [*lines, text[start:]] if start < len(text) else lines


def _usual_end(lines: Sequence[str]) -> str:
    """The end of a text's first line."""
    return _end_of(lines[0]) or "\n" if lines else "\n"


def _end_of(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _without_end(line: str) -> str:
    return line.rstrip("\r\n")
