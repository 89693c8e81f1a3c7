"""What a program does with a container under its name: where it adds to it, and where it reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name, split_receiver
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import spans
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import children

_ADDS = ("append", "add")
PUSH = "heappush"
JOINS = ("cat", "concat", "concatenate", "vstack")
"""Calls that put the rows of several tensors behind each other."""


def append_at(source: SourceFile, line: int, name: str) -> tuple[ast.stmt, ast.expr] | None:
    """The statement on a line that is nothing but `xs.append(x)` or `heapq.heappush(xs, x)`, and its `xs`."""
    for node in nodes_in(source):
        if isinstance(node, ast.Expr) and node.lineno <= line <= (node.end_lineno or 0):
            container = _added_to(node.value)
            if container is not None and dotted(container) and split_receiver(container)[1] == name:
                return node, container
    return None


def _added_to(call: ast.expr) -> ast.expr | None:
    if not isinstance(call, ast.Call):
        return None
    if called_name(call) == PUSH and len(call.args) == 2:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in _ADDS else None


def depth_of(container: ast.expr) -> int:
    """How many items lie between the name and what is appended to: 1 of `self.rows[key]`."""
    depth = 0
    while isinstance(container, ast.Subscript):
        container, depth = container.value, depth + 1
    return depth


def root_of(container: ast.expr) -> type[ast.expr]:
    """Whether the name of a container is an attribute's or a variable's."""
    while isinstance(container, ast.Subscript):
        container = container.value
    return type(container)


def reads_of(source: SourceFile, name: str, kind: type[ast.expr]) -> Iterator[tuple[list[ast.AST], ast.expr]]:
    """Where a file reads an attribute (or a variable) of this name, with the nodes around, the innermost last."""
    try:
        tree = parse(source)
    except SourceError:
        return
    for parents, node in with_parents(tree):
        named = node if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load) else None
        if (
            named is not None
            and isinstance(named, kind)
            and split_receiver(named)[1] == name
            and not _is_changed(parents)
        ):
            yield parents, named


def with_parents(top: ast.AST) -> Iterator[tuple[list[ast.AST], ast.AST]]:
    """A node and all below it, each with the nodes around it up to the first one, the innermost last."""
    waiting: list[tuple[list[ast.AST], ast.AST]] = [([], top)]
    while waiting:
        parents, node = waiting.pop()
        yield parents, node
        waiting += [([*parents, node], child) for child in children(node)]


def reads_beside(
    sources: Sequence[SourceFile], source: SourceFile, statement: ast.stmt, name: str, container: ast.expr
) -> Iterator[tuple[list[ast.AST], ast.expr]]:
    """Where a program reads a container, but for the statement of `source` that adds to it."""
    for each in sources:
        for parents, node in reads_of(each, name, root_of(container)):
            if not (each is source and spans(statement, [node.lineno])):
                yield parents, node


def _is_changed(parents: Sequence[ast.AST]) -> bool:
    """Whether an item is set: `x[key] = value`."""
    parent = parents[-1] if parents else None
    return isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)
