"""What is bound to attributes of objects, or put into them, by others than their own methods: `state.loss = loss`,
`self.state.losses.append(loss)`, `request.answer.set_result(answer)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from tenure.syntax.program.functions import Class, Function, pairs_of
from tenure.syntax.program.program import Program

_MOST = 24
"""An attribute that more statements bind is taken for anything."""


def bound_from_outside(program: Program, cls: Class, name: str) -> Iterator[tuple[ast.expr, Function]]:
    """What an attribute of objects of a class, or of one below or above it, is bound to so, each with its function."""
    found = _by_attribute(program).get(name, ())
    for owner, value, function in found if len(found) <= _MOST else ():
        classes = program.objects.classes_of(owner, function)
        if any(program.share_objects(each, cls) for each in classes):
            yield value, function


Written = tuple[ast.expr, ast.expr, Function]
"""The object, the value, and the function in which both stand."""


@lru_cache(maxsize=1)
def _by_attribute(program: Program) -> Mapping[str, Sequence[Written]]:
    found: dict[str, list[Written]] = {}
    for function in program.functions:
        for target, value in _written_in(function):
            if not (isinstance(target.value, ast.Name) and target.value.id in ("self", "cls")):
                found.setdefault(target.attr, []).append((target.value, value, function))
    return found


def _written_in(function: Function) -> Iterator[tuple[ast.Attribute, ast.expr]]:
    for binding in function.bindings:
        for target, value in pairs_of(binding):
            if isinstance(target, ast.Attribute) and value is not None:
                yield target, value
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute) and value is not None:
                yield target.value, value
    for call in function.calls_of("set_result", "append", "add", "put", "appendleft"):
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Attribute) and call.args:
            yield call.func.value, call.args[-1]
