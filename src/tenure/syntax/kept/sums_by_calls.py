"""Sums that no assignment to the place itself makes: by the name of an attribute, in a context variable, or in a
generator that is sent values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.kept.computed_from import comes_round
from tenure.syntax.program.functions import Function
from tenure.syntax.program.keeping import BY_NAME, Keep
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.sent_values import takes_values


def summed_by_calls(function: Function) -> Iterator[Keep]:
    """`setattr(o, name, getattr(o, name, 0) + x)` and `total.set(total.get() + x)`."""
    for call in function.calls_of("setattr"):
        if len(call.args) == 3 and isinstance(call.args[2], ast.BinOp) and not isinstance(call.args[1], ast.Constant):
            owner, name = (ast.dump(each) for each in call.args[:2])
            if any(_is_of(each, owner, name) for each in _calls_in(call.args[2], "getattr")):
                yield Keep("sum", f"{dotted(call.args[0])}.{BY_NAME}", call.args[2], call)
    for call in function.calls_of("set"):
        place = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        value = call.args[0] if place and len(call.args) == 1 else None
        if isinstance(value, ast.BinOp) and any(
            dotted(each.func) == f"{place}.get" for each in _calls_in(value, "get")
        ):
            yield Keep("sum", place, value, call)


def summed_of_sent(function: Function) -> Iterator[Keep]:
    """`level = 0.9 * level + 0.1 * value` in the loop of a generator that is sent its values."""
    if not takes_values(function):
        return
    for binding in function.bindings:
        if isinstance(binding.value, ast.Yield) or not function.loops_around(binding.lineno):
            continue
        name = dotted(binding.targets[0]) if isinstance(binding, ast.Assign) else ""
        if isinstance(binding, ast.Assign) and name.isidentifier() and comes_round(binding, name, function):
            yield Keep("sum", name, binding.value, binding)
        elif isinstance(binding, ast.AugAssign) and isinstance(binding.target, ast.Name):
            yield Keep("sum", binding.target.id, binding.value, binding)


def _calls_in(value: ast.expr, name: str) -> list[ast.Call]:
    return [each for each in walk(value) if isinstance(each, ast.Call) and called_name(each) == name]


def _is_of(call: ast.Call, owner: str, name: str) -> bool:
    return len(call.args) > 1 and ast.dump(call.args[0]) == owner and ast.dump(call.args[1]) == name
