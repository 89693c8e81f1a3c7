"""Dicts that a program writes out, `{"loss": loss, "step": step}`: what a value is at one of their keys, or without
some."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.arguments import all_parameters
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.framework_states import is_output_of_engine, process_functions

_MOST_STEPS = 4

Values = list[tuple[ast.expr, Function]]
"""Expressions, each with the function in which it stands."""


def values_at(program: Program, node: ast.expr, key: object, function: Function) -> Values | None:
    """What the dict that an expression gives has at a key; None where it may be another dict, or has no such key."""
    displays = _known(program, node, function)
    if displays is None:
        return None
    found = [value for display, where in displays for value in _pairs(display, where) if value[0] == key]
    return [(value, where) for _, value, where in found] if _have_all(displays, key) else None


def values_without(program: Program, node: ast.expr, keys: set[object], function: Function) -> Values | None:
    """What the dict that an expression gives has at its other keys; None where it may be another dict."""
    displays = _known(program, node, function)
    if displays is None:
        return None
    pairs = (pair for display, where in displays for pair in _pairs(display, where))
    return [(value, where) for key, value, where in pairs if key not in keys]


def taken_out(name: str, function: Function) -> set[object]:
    """Keys that a function takes out of a dict: `outputs.pop("loss")`."""
    return {
        call.args[0].value
        for call in function.calls_of("pop")
        if isinstance(call.func, ast.Attribute)
        and dotted(call.func.value) == name
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }


def _known(program: Program, node: ast.expr, function: Function) -> list[tuple[ast.Dict, Function]] | None:
    """The dicts that a value may be, where all of them are written out."""
    found = list(_displays(program, node, function, 0))
    known = [(display, where) for display, where in found if display is not None]
    return known if known and len(known) == len(found) else None


def _pairs(display: ast.Dict, where: Function) -> Iterator[tuple[object, ast.expr, Function]]:
    for key, value in zip(display.keys, display.values, strict=True):
        yield getattr(key, "value", None), value, where


def _have_all(displays: list[tuple[ast.Dict, Function]], key: object) -> bool:
    return all(any(getattr(each, "value", None) == key for each in display.keys) for display, _ in displays)


def _displays(
    program: Program, node: ast.expr, function: Function, depth: int
) -> Iterator[tuple[ast.Dict | None, Function]]:
    """The dicts, as they are written, that a value may be; None among them for anything else."""
    if isinstance(node, ast.Dict) and all(isinstance(each, ast.Constant) for each in node.keys):
        yield node, function
        return
    if is_output_of_engine(node):
        for each in process_functions(program):
            for given in each.returns:
                if given.value is not None:
                    yield from _displays(program, given.value, each, depth + 1)
        return
    if depth < _MOST_STEPS and isinstance(node, ast.Name) and node.id not in function.contents:
        bound = function.bound.get(node.id, ()) if node.id not in all_parameters(function) else ()
        for _, value in bound:
            yield from _displays(program, value, function, depth + 1)
        if bound:
            return
    if depth < _MOST_STEPS and isinstance(node, ast.Call):
        one = program.called_by(node, function)
        for each in (one,) if one is not None else program.may_call(node, function):
            values = [given.value for given in each.returns if given.value is not None]
            for value in values:
                yield from _displays(program, value, each, depth + 1)
            if not values and each.name == "__init__":
                yield None, function
        return
    yield None, function
