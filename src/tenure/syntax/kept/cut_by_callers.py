"""Results that all who ask for them take without their graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.graph_values import is_cutting


def is_cut_by_all(program: Program, function: Function) -> bool:
    """Whether what a function returns is detached, or made a number, at once wherever the program asks for it: where
    it is called, or, of a table's `__missing__`, where its class looks up a key."""
    asking = list(_lookups(function) if function.name == "__missing__" else program.callers(function))
    return bool(asking) and all(_is_cut(where, node) for where, node in asking)


def _lookups(function: Function) -> Iterator[tuple[Function, ast.expr]]:
    for method in function.owner.functions if function.owner is not None else ():
        for node in walk(method.node):
            is_own = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "self"
            if is_own and isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield method, node


def _is_cut(function: Function, node: ast.expr) -> bool:
    return any(
        is_cutting(call) and isinstance(call.func, ast.Attribute) and call.func.value is node for call in function.calls
    )
