"""Which texts an expression may be, as far as they are written out: the names of events, methods and keys."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tenure.syntax.program.arguments import all_parameters, default_of, given_to

if TYPE_CHECKING:
    from tenure.syntax.program.functions import Function
    from tenure.syntax.program.program import Program

_MOST_STEPS = 5
_MOST_CALLERS = 40


def texts(program: Program, node: ast.expr, function: Function) -> frozenset[str]:
    """All that are found, from a parameter to the calls of its function."""
    return frozenset(_texts(program, node, function, 0))


def _texts(program: Program, node: ast.expr, function: Function, steps: int) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [list(_texts(program, part, function, steps)) for part in node.values]
        yield from ("".join(each) for each in itertools.islice(itertools.product(*parts), _MOST_CALLERS))
    elif isinstance(node, ast.FormattedValue):
        yield from _texts(program, node.value, function, steps)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for each in node.elts:
            yield from _texts(program, each, function, steps)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        first, second = (list(_texts(program, each, function, steps)) for each in (node.left, node.right))
        yield from (one + other for one in first for other in second)
    elif isinstance(node, ast.IfExp):
        yield from _texts(program, node.body, function, steps)
        yield from _texts(program, node.orelse, function, steps)
    elif isinstance(node, ast.Name) and steps < _MOST_STEPS:
        yield from _of_variable(program, node.id, function, steps + 1)


def _of_variable(program: Program, name: str, function: Function, steps: int) -> Iterator[str]:
    for _, value in function.bound.get(name, ()):
        yield from _texts(program, value, function, steps)
    if name in all_parameters(function):
        default = default_of(name, function)
        if default is not None:
            yield from _texts(program, default, function, steps)
        for caller, call in program.known_callers(function)[:_MOST_CALLERS]:
            for value in given_to(name, function, call):
                yield from _texts(program, value, caller, steps)
    elif name not in function.bound:
        top = program.names.top_with(name, function.source)
        if top is None or top is function:
            return
        for _, value in top.bound[name]:
            yield from _texts(program, value, top, steps)
