"""Whether a value is computed, graph and all, from what a place held before."""

from __future__ import annotations

import ast
import re

from tenure.syntax.kept.computed_from import is_computed_from
from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.values.graph_values import CUTTING, is_cutting

CACHE_NAMES = re.compile(r"cache|past|(^|[._])(keys|values|kv)($|[._])")
"""What a generation keeps of its tokens, with no graph as it is meant to be used."""


def leads_to(value: ast.expr, place: str, program: Program, function: Function) -> bool:
    """Whether a value is computed from a place with its graph: named in it or in what its variables are bound to, or
    in what a method called in it gives."""
    if place.endswith((".keys", ".values")) and not place.startswith("self."):
        return False
    if "." in place and not CACHE_NAMES.search(place) and is_computed_from(value, place, function):
        return True
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Attribute, ast.Name)) and dotted(node) == place:
            return True
        if isinstance(node, ast.Name) and node is value and _is_given_what_leads_to(node.id, place, program, function):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if is_cutting(node):
                continue
            if name and dotted(node.func) == f"self.{name}":
                called = program.called_by(node, function)
                if (
                    called is not None
                    and called is not function
                    and any(each.value is not None and _names(each.value, place) for each in called.returns)
                ):
                    return True
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif not isinstance(node, (ast.Compare, ast.Lambda)):
            waiting += children(node)
    return False


def _is_given_what_leads_to(name: str, place: str, program: Program, function: Function) -> bool:
    """Whether a method of the same object hands over what it computes from the place: `self.carry(f(self.h))`."""
    if name not in function.parameters or not place.startswith("self.") or name in function.bound:
        return False
    return any(
        dotted(call.func).startswith("self.") and caller is not function and is_computed_from(given, place, caller)
        for caller, call in program.callers(function)
        for given in given_to(name, function, call)
    )


def _names(value: ast.expr, place: str) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in CUTTING:
        return False
    return any(dotted(node) == place for node in walk(value) if isinstance(node, ast.Attribute))
