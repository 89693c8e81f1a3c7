"""What a value is computed from with its graph, by the bindings that are in force where it is."""

from __future__ import annotations

import ast

from tenure.syntax.program.functions import Function
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.graph_values import CUTTING, FACTS


def is_computed_from(value: ast.expr, place: str, function: Function) -> bool:
    """Whether a value leads to an attribute: named in it, or in what its variables are bound to there; not through
    what cuts the graph, and not by what is only looked for, as in `key in self.table`."""
    waiting: list[ast.AST] = [value]
    seen: set[tuple[str, int]] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute) and dotted(node) == place:
            return True
        if isinstance(node, ast.Name):
            waiting += _bound_there(node, function, seen)
        is_cut = isinstance(node, ast.Call) and called_name(node) in CUTTING
        if is_cut or (isinstance(node, ast.Attribute) and node.attr in FACTS) or isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif isinstance(node, ast.Subscript):
            waiting.append(node.value)
        elif not isinstance(node, ast.Compare):
            waiting += list(ast.iter_child_nodes(node))
    return False


def _bound_there(node: ast.Name, function: Function, seen: set[tuple[str, int]]) -> list[ast.expr]:
    bound = function.bound.get(node.id, ())
    if not bound:
        return []
    lines = reaching_lines(function.source, function.qualname, node.id, node.lineno)
    found = [(line, value) for line, value in bound if line in lines and (node.id, line) not in seen]
    seen.update((node.id, line) for line, _ in found)
    return [value for _, value in found]
