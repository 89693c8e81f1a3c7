"""From a statement to a source finding: what every rule does alike once it has recognised its cause in the text."""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.model.finding import Edit, Finding
from tenure.model.source import SourceFile
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.syntax.program.functions import Function
from tenure.syntax.text.scopes import dotted


def told_by_source_alone(_: Suspect) -> Finding | None:
    """The check of suspects of a rule whose cause no recording shows as such: it claims none."""
    return None


def claim_source(
    function: Function,
    node: ast.expr | ast.stmt,
    *,
    rule: str,
    name: str,
    message: str,
    remedy: str,
    edits: tuple[Edit, ...] = (),
    safe: bool = False,
) -> SourceFinding:
    """The finding that `rule` makes of `node` in `function`; `message` is its sentence, `remedy` what to change."""
    lines = _lines_of(function.source)
    end = node.end_lineno or node.lineno
    return SourceFinding(
        rule=rule,
        name=name,
        file=function.source.path,
        line=node.lineno,
        column=_characters(lines, node.lineno, node.col_offset),
        end_line=end,
        end_column=_characters(lines, end, node.end_col_offset or node.col_offset),
        function=function.qualname,
        message=message,
        remedy=remedy,
        edits=edits,
        safe=safe,
        place=_place_of(node),
    )


@lru_cache(maxsize=8)
def _lines_of(source: SourceFile) -> list[str]:
    return source.text.split("\n")


def _place_of(node: ast.AST) -> str:
    """What a statement stores into: the first target of an assignment, the object whose method is called."""
    if isinstance(node, ast.Assign):
        return dotted(node.targets[0])
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return dotted(node.target)
    if isinstance(node, ast.Expr):
        return _place_of(node.value)
    return dotted(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _characters(lines: list[str], line: int, offset: int) -> int:
    """A column that counts characters from 1, for an offset in bytes of UTF-8."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return len(text.encode()[:offset].decode(errors="replace")) + 1
