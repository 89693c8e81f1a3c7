"""Where a program goes past the one place that reads an attribute: there it can let go of it.

`if step >= self.until: return None`, above what asks `self.judge`, is where the judge's work is over, or is not yet
begun: source does not tell which, so that these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.let_go import FunctionNode, owner_read_in
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import begins_its_line, indent_of
from tenure.syntax.text.scopes import inner_bodies
from tenure.syntax.text.tree_walks import walk

_LEAVING = (ast.Return, ast.Continue, ast.Break)


def let_go_where_skipped(sources: Sequence[SourceFile], name: str) -> Iterator[tuple[Edit, ...]]:
    """For each function that reads the attribute `name` of one object, and each condition by which it may not, the edit
    that sets it to None on the other way: before a function is left early, or in the `else` of the reads' `if`."""
    for source in sources:
        try:
            functions: list[FunctionNode] = [
                *nodes_of(source, ast.FunctionDef),
                *nodes_of(source, ast.AsyncFunctionDef),
            ]
        except SourceError:
            continue
        for function in functions:
            owner = owner_read_in(function, name)
            if owner:
                yield from filter(None, _in_bodies(source, function, name, f"{owner}.{name} = None"))


def _in_bodies(source: SourceFile, function: ast.AST, name: str, text: str) -> Iterator[tuple[Edit, ...]]:
    for node in walk(function):
        for body in inner_bodies(node):
            for at, statement in enumerate(body):
                if isinstance(statement, ast.If) and not _mentions([statement.test], name):
                    yield _on_other_way(source, statement, body[at + 1 :], name, text)


def _on_other_way(
    source: SourceFile, choice: ast.If, behind: Sequence[ast.stmt], name: str, text: str
) -> tuple[Edit, ...]:
    reads_inside, reads_else = _mentions(choice.body, name), _mentions(choice.orelse, name)
    if reads_inside and not reads_else:
        return _at_start(source, choice, choice.orelse, text) if choice.orelse else _with_else(source, choice, text)
    leaves = isinstance(choice.body[-1], _LEAVING)
    if not reads_inside and (reads_else or (leaves and _mentions(behind, name))):
        return _at_start(source, choice, choice.body, text)
    return ()


def _at_start(source: SourceFile, choice: ast.If, body: Sequence[ast.stmt], text: str) -> tuple[Edit, ...]:
    """In front of a branch's first statement; none for an `elif`, and where it stands behind the colon."""
    first = body[0]
    apart = begins_its_line(source, first) and first.col_offset > choice.col_offset
    return insert_line(source, first.lineno, indent_of(source, first) + text) if apart else ()


def _with_else(source: SourceFile, choice: ast.If, text: str) -> tuple[Edit, ...]:
    indent, inner = indent_of(source, choice), indent_of(source, choice.body[0])
    if not begins_its_line(source, choice) or len(inner) <= len(indent):
        return ()  # an `elif`, whose own `if` has the other way, or all in one line
    return insert_line(source, (choice.end_lineno or choice.lineno) + 1, f"{indent}else:\n{inner}{text}")


def _mentions(nodes: Sequence[ast.AST], name: str) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == name for node in nodes for each in walk(node))
