"""Whether a flag may be true or false where it is used: as written, by its default, or by what calls give for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from tenure.syntax.program.arguments import default_of, given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.objects import is_property
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted

_MOST_STEPS = 4
_MOST_CALLERS = 12


def may_be(wanted: bool, node: ast.expr, function: Function, program: Program, steps: int = 0) -> bool:
    """Whether an expression may have this truth; no where nothing tells."""
    if isinstance(node, ast.Constant):
        return bool(node.value) is wanted
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return may_be(not wanted, node.operand, function, program, steps)
    if steps > _MOST_STEPS:
        return False
    if isinstance(node, ast.Compare):
        return True  # now so, now so
    if isinstance(node, ast.Attribute):
        values = list(_values(node, function, program))
        if not values:
            return wanted in _of_options(program).get(node.attr, ())
        return any(may_be(wanted, value, where, program, steps + 1) for value, where in values)
    if not isinstance(node, ast.Name):
        return False
    bound = function.bound.get(node.id, ())
    if bound or node.id not in function.parameters:
        return any(may_be(wanted, value, function, program, steps + 1) for _, value in bound)
    return _may_be_given(wanted, node.id, function, program, steps)


def _values(node: ast.Attribute, function: Function, program: Program) -> Iterator[tuple[ast.expr, Function]]:
    """What an attribute of the program's own objects is bound to; of a property, what it gives back."""
    if dotted(node.value) == "self" and function.owner is not None:
        classes = [function.owner]
    else:
        classes = program.objects.classes_of(node.value, function)
    for cls in classes:
        method = program.method_of(cls, node.attr)
        if method is not None and is_property(method):
            yield from ((each.value, method) for each in method.returns if each.value is not None)
        yield from program.attribute_values(cls, node.attr)


@lru_cache(maxsize=1)
def _of_options(program: Program) -> dict[str, set[bool]]:
    """What the flags of command lines may be, by their names: `add_argument("--second-order", action="store_true")`."""
    found: dict[str, set[bool]] = {}
    for function in program.functions:
        for call in function.calls_of("add_argument"):
            names = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            actions = [each.value for each in call.keywords if each.arg == "action"]
            if actions and (dotted(actions[0]).endswith("BooleanOptionalAction") or _stores(actions[0])):
                for name in names:
                    found[name.lstrip("-").replace("-", "_")] = {True, False}
    return found


def _stores(action: ast.expr) -> bool:
    return getattr(action, "value", None) in ("store_true", "store_false")


def _may_be_given(wanted: bool, name: str, function: Function, program: Program, steps: int) -> bool:
    calls = program.callers(function)
    if len(calls) > _MOST_CALLERS:
        return False
    given = [(list(given_to(name, function, call)), caller) for caller, call in calls]
    default = default_of(name, function)
    takes_default = not given or any(not values for values, _ in given)
    if takes_default and default is not None and may_be(wanted, default, function, program, steps + 1):
        return True
    return any(may_be(wanted, value, caller, program, steps + 1) for values, caller in given for value in values)
