"""Variables that several functions share: of a file, or of a function around, with what any of them makes of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from tenure.syntax.program.arguments import all_parameters
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program

Shared = Mapping[tuple[Function, str], Sequence[tuple[ast.expr, Function]]]


@lru_cache(maxsize=1)
def shared_values(program: Program) -> Shared:
    """Per function, or top of a file, and variable or attribute of one: what functions inside bind it to, or put into
    it, each with its function. What the owner does itself is not among them."""
    found: dict[tuple[Function, str], list[tuple[ast.expr, Function]]] = {}
    for function in program.functions:
        if not isinstance(function.node, ast.Module):
            for name, value in _of_others(function):
                owner = _owner_of(program, name.partition(".")[0], function)
                if owner is not None:
                    found.setdefault((owner, name), []).append((value, function))
    return found


def _of_others(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """What a function binds, or puts into, that is not its own."""
    declared = {name for each in function.declarations for name in each.names}
    own = {*function.bound, *all_parameters(function), "self", "cls"} - declared
    for name, values in function.bound.items():
        if name in declared or ("." in name and name.partition(".")[0] not in own):
            yield from ((name, value) for _, value in values)
    for name, contents in function.contents.items():
        if name.partition(".")[0] not in own:
            yield from ((name, value) for value in contents)


def _owner_of(program: Program, name: str, function: Function) -> Function | None:
    """The function around, or the top of the file, that binds a name; a class at the top counts."""
    outer = program.names.around(function)
    while outer is not None:
        if name in outer.bound or name in all_parameters(outer):
            return outer
        outer = program.names.around(outer)
    if program.names.class_of(name, function.source) is not None:
        return program.names.top_of(function.source)
    return program.names.top_with(name, function.source)
