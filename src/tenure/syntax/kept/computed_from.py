"""What a value is computed from with its graph, by the bindings that are in force where it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.functions import Function
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children
from tenure.syntax.values.graph_values import FACTS, is_cutting


def is_computed_from(value: ast.expr, place: str, function: Function) -> bool:
    """Whether a value leads to an attribute: named in it, or in what its variables are bound to there; not through
    what cuts the graph, and not by what is only looked for, as in `key in self.table`."""
    return any(isinstance(each, ast.Attribute) and dotted(each) == place for each in _led_to(value, function))


def comes_round(binding: ast.Assign, name: str, function: Function) -> bool:
    """Whether a variable is bound, in a loop, to what is computed from the value that the same statement gave it."""
    return any(
        isinstance(each, ast.Name)
        and each.id == name
        and binding.lineno in reaching_lines(function.source, function.qualname, name, each.lineno)
        for each in _led_to(binding.value, function)
    )


def _led_to(value: ast.expr, function: Function) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [value]
    seen: set[tuple[str, int]] = set()
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.Name):
            waiting += _bound_there(node, function, seen)
        is_cut = isinstance(node, ast.Call) and is_cutting(node)
        if (
            is_cut
            or (isinstance(node, ast.Attribute) and node.attr in FACTS)
            or isinstance(node, (ast.Lambda, ast.Yield))
        ):
            continue
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif isinstance(node, ast.Subscript):
            waiting.append(node.value)
        elif not isinstance(node, ast.Compare):
            waiting += children(node)


def _bound_there(node: ast.Name, function: Function, seen: set[tuple[str, int]]) -> list[ast.expr]:
    bound = function.bound.get(node.id, ())
    if not bound:
        return []
    lines = reaching_lines(function.source, function.qualname, node.id, node.lineno)
    found = [(line, value) for line, value in bound if line in lines and (node.id, line) not in seen]
    seen.update((node.id, line) for line, _ in found)
    put_in = function.contents.get(node.id, ()) if found else ()
    return [*(value for _, value in found), *put_in]
