"""`itertools.cycle(loader)`: a copy of each batch of the first pass stays, for later passes that give these again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted

_MOST_STEPS = 4
_MOST_CALLERS = 6


@dataclass(frozen=True)
class CycledLoader:
    """`call` is `cycle(loader)` of a `DataLoader`."""

    function: Function
    call: ast.Call


def find_cycled_loaders(program: Program) -> Iterator[CycledLoader]:
    """All of a program. Costs a look at what is called `cycle`."""
    for function in program.functions:
        for call in function.calls_of("cycle"):
            is_own = len(call.args) == 1 and _is_of_itertools(program, call, function)
            if is_own and _is_loader(program, call.args[0], function, 0):
                yield CycledLoader(function, call)


def _is_of_itertools(program: Program, call: ast.Call, function: Function) -> bool:
    if isinstance(call.func, ast.Attribute):
        return dotted(call.func) == "itertools.cycle"
    imports = (each for one in program.names.functions_in(function.source) for each in one.imports)
    return any(
        isinstance(each, ast.ImportFrom)
        and each.module == "itertools"
        and any((name.asname or name.name) == "cycle" for name in each.names)
        for each in imports
    )


def _is_loader(program: Program, node: ast.expr, function: Function, steps: int) -> bool:
    """Whether a value is made by `DataLoader(...)`, as far as bindings, calls and what these give back tell."""
    if steps > _MOST_STEPS:
        return False
    if isinstance(node, ast.Call):
        if called_name(node) == "DataLoader":
            return True
        called = program.called_by(node, function)
        returned = [each.value for each in called.returns if each.value is not None] if called is not None else []
        return called is not None and any(_is_loader(program, each, called, steps + 1) for each in returned)
    name = dotted(node)
    if name.startswith("self.") and function.owner is not None:
        values = program.attribute_values(function.owner, name[5:])
        return any(_is_loader(program, value, where, steps + 1) for value, where in values)
    bound = [value for _, value in function.bound.get(name, ())]
    if bound:
        return any(_is_loader(program, value, function, steps + 1) for value in bound)
    calls = program.callers(function)[:_MOST_CALLERS] if name in function.parameters else ()
    return any(
        _is_loader(program, value, caller, steps + 1)
        for caller, call in calls
        for value in given_to(name, function, call)
    )
