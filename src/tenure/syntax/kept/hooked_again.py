"""Objects that are made again and again and hook, when they are made, a module that was there before them."""

from __future__ import annotations

import ast

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function, is_in_body, targets_of
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_of_tests, runs_repeatedly
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.value_parts import bound_names

_MOST_STEPS = 4


def hooks_what_was_there(program: Program, function: Function, call: ast.Call) -> bool:
    """Whether `call` registers on what an initialiser is given, and some loop makes objects of the class for the same
    module: `for image in images: cam = Cam(model)`."""
    registered = call.func.value if isinstance(call.func, ast.Attribute) else None
    given = _parameter_behind(_root(registered), function, 0)
    return bool(given) and function.owner is not None and _is_given_again(program, given, function, 0)


def _parameter_behind(name: str, function: Function, steps: int) -> str:
    """The parameter that a variable or attribute of an initialiser comes from; "" where it is none."""
    if name in function.parameters[1:]:
        return name
    if not name or steps > _MOST_STEPS:
        return ""
    for _, value in function.bound.get(name, ()):
        found = _parameter_behind(_root(value), function, steps + 1)
        if found:
            return found
    return ""


def _is_given_again(program: Program, name: str, function: Function, steps: int) -> bool:
    """Whether what a parameter gets is the same object again in a later call."""
    calls = program.constructions(function.owner) if function.name == "__init__" and function.owner else ()
    for caller, call in calls or program.callers(function):
        if not is_of_tests(caller) or is_of_tests(function):
            values = given_to(name, function, call)
            if any(_was_there(program, _root(value), caller, call, steps) for value in values):
                return True
    return False


def _was_there(program: Program, name: str, function: Function, call: ast.Call, steps: int) -> bool:
    """Whether a variable or attribute is older than the turn, or the call of a function, that `call` is in."""
    if not name or steps > _MOST_STEPS:
        return False
    bound = [each.lineno for each in function.bindings if name in _names(each)]
    loops = function.loops_around(call.lineno)
    targets = [name for loop in loops if not isinstance(loop, ast.While) for name in bound_names(loop.target)]
    if any(not any(is_in_body(line, loop) for line in bound) for loop in loops) and name not in targets:
        return True
    if name in function.parameters:
        return _is_given_again(program, name, function, steps + 1)
    return "." in name and not bound and runs_repeatedly(program, function)


def _names(binding: ast.stmt | ast.NamedExpr) -> list[str]:
    return [name for target in targets_of(binding) for name in bound_names(target)]  # type: ignore[arg-type]


def _root(node: ast.expr | None) -> str:
    """`model` of `model.layers[0]` and `dict(model.named_modules())`, `self.model` of `self.model.head`."""
    while node is not None:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            of_method = isinstance(node.func, ast.Attribute) and not node.args
            node = node.func.value if of_method else node.args[0] if node.args else None  # type: ignore[attr-defined]
        elif isinstance(node, ast.Attribute) and dotted(node.value) != "self":
            node = node.value
        else:
            return dotted(node)
    return ""
