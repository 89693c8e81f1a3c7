"""Outputs of custom autograd Functions that are set as attributes of their context."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program import Function, Program

_WITH_OUTPUT = "setup_context"
"""`setup_context(ctx, inputs, output)`: what forward returned is its last parameter."""


@dataclass(frozen=True)
class StoredOutput:
    """`statement` sets `ctx.<attribute>` in `function`, a method of the Function."""

    function: Function
    statement: ast.Assign
    ctx: str
    attribute: str


def find_outputs_on_ctx(program: Program) -> Iterator[StoredOutput]:
    """All of a program; a walk over the methods of its Functions alone."""
    for classes in program.classes.values():
        for each in classes:
            if any(base.rpartition(".")[2] == "Function" for base in each.bases):
                for name in ("forward", _WITH_OUTPUT):
                    if name in each.methods:
                        yield from _stored_in(each.methods[name])


def _stored_in(function: Function) -> Iterator[StoredOutput]:
    if len(function.parameters) < 2:
        return
    ctx, outputs = function.parameters[0], _outputs(function)
    for binding in function.bindings:
        if isinstance(binding, ast.Assign) and isinstance(binding.value, ast.Name) and binding.value.id in outputs:
            for target in binding.targets:
                if isinstance(target, ast.Attribute) and getattr(target.value, "id", None) == ctx:
                    yield StoredOutput(function, binding, ctx, target.attr)


def _outputs(function: Function) -> set[str]:
    """Names of what the Function returns; its parameters are inputs, and no outputs where they are returned."""
    if function.name == _WITH_OUTPUT:
        return {function.parameters[-1]}
    returned = [each.value for each in function.returns]
    parts = [part for value in returned for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return {part.id for part in parts if isinstance(part, ast.Name)} - set(function.parameters)
