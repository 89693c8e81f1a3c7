"""Values that are kept by a container's method which was handed on: `pipeline(net, on_result=self.results.append)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted

_KEEPING = frozenset({"append", "appendleft", "add", "put", "put_nowait"})
_MOST_STEPS = 3
_MOST_CALLERS = 6


def keeps_by_methods(program: Program) -> Iterator[tuple[Function, Keep, Function]]:
    """Each with the function that calls the method, and the one that names it. Costs a look at all arguments, and at
    the calls of parameters and attributes where any of them is such a method."""
    if not any(_hands_on(function) for function in program.functions):
        return
    for function in program.functions:
        for call in function.calls:
            if len(call.args) == 1 and not call.keywords and _may_be_given(call.func, function):
                for method, where in _methods(program, call.func, function, 0):
                    yield function, Keep("element", dotted(method.value), call.args[0], call), where


def _hands_on(function: Function) -> bool:
    given = (each for call in function.calls for each in (*call.args, *(one.value for one in call.keywords)))
    return any(map(_is_method, given))


def _is_method(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _KEEPING and bool(dotted(node.value))


def _may_be_given(called: ast.expr, function: Function) -> bool:
    if isinstance(called, ast.Name):
        return called.id in function.parameters
    return isinstance(called, ast.Attribute) and dotted(called.value) == "self" and called.attr not in _KEEPING


def _methods(
    program: Program, node: ast.expr, function: Function, steps: int
) -> Iterator[tuple[ast.Attribute, Function]]:
    """The methods of containers that a value may be, from a parameter to the calls of its function."""
    if isinstance(node, ast.Attribute) and _is_method(node):
        yield node, function
    elif steps > _MOST_STEPS:
        return
    elif isinstance(node, ast.Attribute) and dotted(node.value) == "self" and function.owner is not None:
        if program.method_of(function.owner, node.attr) is None:
            for value, where in program.attribute_values(function.owner, node.attr):
                yield from _methods(program, value, where, steps + 1)
    elif isinstance(node, ast.Name) and node.id in function.parameters and node.id not in function.bound:
        owner = function.owner if function.name == "__init__" else None
        calls = program.constructions(owner) if owner is not None else program.callers(function)
        for caller, call in calls if len(calls) <= _MOST_CALLERS else ():
            for value in given_to(node.id, function, call):
                yield from _methods(program, value, caller, steps + 1)
