"""Handles of hooks that a program collects and then forgets: they are asked to remove their hooks before that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import function_around, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk


def remove_where_forgotten(source: SourceFile, line: int) -> Iterator[tuple[Edit, ...]]:
    """For each place of the file that empties what collects the handle of the hook registered on `line` (`.clear()`,
    or an empty one in its place), the edit that calls `remove()` of all of them in front of it."""
    collected = _collected_by(source, line)
    if not collected:
        return
    container, turns = collected
    statements: list[ast.Expr | ast.Assign] = [*nodes_of(source, ast.Expr), *nodes_of(source, ast.Assign)]
    for statement in statements:
        indent = indent_of(source, statement)
        if getattr(function_around(parse(source), [statement.lineno]), "name", "") == "__init__":
            continue  # there are none before
        if isinstance(statement, ast.Assign) and "." not in container and _is_first(source, statement, container):
            continue
        if _empties(statement, container) and len(indent.encode()) == statement.col_offset:
            loop = f"{indent}for handle in {turns}:\n{indent}    handle.remove()"
            yield insert_line(source, statement.lineno, loop)


def _is_first(source: SourceFile, statement: ast.stmt, variable: str) -> bool:
    """Whether a variable has no value in its function before a statement binds it."""
    function = function_around(parse(source), [statement.lineno])
    nodes = list(walk(function))
    binds = (node for node in nodes if isinstance(node, ast.Assign) and variable in map(dotted, node.targets))
    is_given = any(isinstance(node, ast.arg) and node.arg == variable for node in nodes)
    return not is_given and all(node.lineno >= statement.lineno for node in binds)


def number_handles(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit that keeps the handle of the hook registered on `line` under a number of its own, where a key that
    comes twice would lose one: `handles[len(handles)] = ...`. None where the dict is read by key."""
    for statement in nodes_of(source, ast.Assign):
        target = statement.targets[0]
        if not isinstance(target, ast.Subscript) or statement.value not in _registrations(statement, line):
            continue
        container = _named(target.value)
        others = (node for node in nodes_of(source, ast.Subscript) if node is not target)
        if container and not any(dotted(node.value) == container for node in others):
            return replace_expression(source, target.slice, f"len({container})")
    return ()


def _collected_by(source: SourceFile, line: int) -> tuple[str, str]:
    """The container of a handle and what gives all of its handles: `handles` and `handles.values()`; "" without one."""
    for statement in nodes_of(source, ast.Assign):
        target = statement.targets[0]
        is_item = isinstance(target, ast.Subscript) and statement.value in _registrations(statement, line)
        if is_item and isinstance(target, ast.Subscript) and (container := _named(target.value)):
            return container, f"{container}.values()"
        if isinstance(statement.value, ast.ListComp) and statement.value.elt in _registrations(statement, line):
            return _named(target), _named(target)
        if isinstance(statement.value, ast.DictComp) and statement.value.value in _registrations(statement, line):
            return _named(target), f"{_named(target)}.values()"
    for call in nodes_of(source, ast.Call):
        is_added = len(call.args) == 1 and call.args[0] in _registrations(call, line)
        if is_added and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "add"):
            return _named(call.func.value), _named(call.func.value)
    return "", ""


def _registrations(node: ast.AST, line: int) -> list[ast.Call]:
    """The calls under a node that register a hook on a line."""
    calls = (
        each for each in walk(node) if isinstance(each, ast.Call) and each.lineno <= line <= (each.end_lineno or 0)
    )
    return [each for each in calls if called_name(each).startswith("register") and "hook" in called_name(each)]


def _named(node: ast.expr) -> str:
    text = dotted(node)
    return "" if "[" in text or "(" in text else text


def _empties(statement: ast.Expr | ast.Assign, container: str) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and dotted(statement.value.func) == f"{container}.clear"
    is_empty = isinstance(statement.value, (ast.List, ast.Dict)) and ast.unparse(statement.value) in ("[]", "{}")
    return is_empty and [dotted(each) for each in statement.targets] == [container]
