"""Whether a value is made anew from a name, as `decay * level + loss` is from `level`, or only chosen or handed on."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.tree_walks import walk

_CHOOSE = frozenset(
    {"min", "max", "sorted", "next", "float", "int", "str", "copy", "deepcopy", "getattr", "isinstance"}
)
_READ = frozenset({"get", "item", "detach", "clone", "tolist", "setdefault", "pop"})


def is_made_from(value_text: str, names: Collection[str]) -> bool:
    """Whether the value is computed from one of the names: an operator's operand, or what a call is given.

    Not where the value is the name itself, one of several that are compared (`min(best, loss)`), or read out of it.
    A text that was cut, so that it is no expression, counts by the names it has.
    """
    try:
        value = ast.parse(f"({value_text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return any(re.search(rf"\b{re.escape(name)}\b", value_text) for name in names)
    return _computes(value, names)


def _computes(value: ast.expr, names: Collection[str]) -> bool:
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        return _mentions(value, names)
    if isinstance(value, ast.IfExp):
        return _computes(value.body, names) or _computes(value.orelse, names)
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(_computes(part, names) for part in value.elts)
    if isinstance(value, (ast.NamedExpr, ast.Subscript, ast.Await)):
        return _computes(value.value, names)
    if isinstance(value, ast.Call):
        return _call_computes(value, names)
    return False


def _call_computes(call: ast.Call, names: Collection[str]) -> bool:
    called = called_name(call)
    if called in _CHOOSE:
        return any(_computes(argument, names) for argument in call.args)
    if called in _READ and isinstance(call.func, ast.Attribute):
        return _computes(call.func.value, names)
    return _mentions(call, names)


def _mentions(value: ast.expr, names: Collection[str]) -> bool:
    """As a variable, an attribute, or a key."""
    return any(
        (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)) in names for node in walk(value)
    )
