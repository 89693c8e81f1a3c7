"""A log record that is kept as text: its arguments and the exception that it tells of are let go, or one argument is
given as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.name_uses import begins_its_line, indent_of

_LEVELS = ("debug", "info", "warning", "error", "critical", "exception")


def settle_record(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that formats a `logging.LogRecord` in front of the statement on `line`, which keeps it under a variable
    of its own: formatting leaves the message and the traceback on it as text, which formatters print later.

    None where the file does not import logging.
    """
    kept = find_kept(source, line, name)
    imported = any(
        each.name == "logging" and not each.asname for node in nodes_of(source, ast.Import) for each in node.names
    )
    if kept is None or not isinstance(kept.value, ast.Name) or not imported:
        return ()
    if not begins_its_line(source, kept.statement):
        return ()
    indent, record = indent_of(source, kept.statement), kept.value.id
    text = f"{indent}logging.Formatter().format({record})\n{indent}{record}.msg, {record}.args, {record}.exc_info = "
    return insert_line(source, kept.statement.lineno, f"{text}{record}.getMessage(), (), None")


def change_logged(source: SourceFile, line: int, at: int, pattern: str) -> tuple[Edit, ...]:
    """The edit that gives a logging call on `line` its argument number `at` by a pattern: `{}.detach()`, or `str({})`,
    by which it is written out where it is logged, be the record shown or not."""
    logged = [node for node in _logging_calls(source) if node.lineno <= line <= (node.end_lineno or 0)]
    if len(logged) != 1 or not 0 <= at < len(logged[0].args) - 1 or isinstance(logged[0].args[at + 1], ast.Starred):
        return ()
    given = logged[0].args[at + 1]
    return replace_expression(source, given, pattern.format(ast.get_source_segment(source.text, given)))


def lines_that_log(sources: Sequence[SourceFile], num_arguments: int) -> Iterator[tuple[SourceFile, int]]:
    """The logging calls of a program that are given so many arguments."""
    for source in sources:
        for node in _logging_calls(source):
            if len(node.args) == num_arguments + 1:
                yield source, node.lineno


def _logging_calls(source: SourceFile) -> list[ast.Call]:
    calls = (node for node in nodes_in(source) if isinstance(node, ast.Call))
    return [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr in _LEVELS]
