"""Outputs of custom autograd Functions that are set as attributes of their context."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name, target_pairs
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.store_calls import stores_of_call
from tenure.syntax.values.tensor_values import TensorValues, tensor_values

_WITH_OUTPUT = "setup_context"
"""`setup_context(ctx, inputs, output)`: what forward returned is its last parameter."""


@dataclass(frozen=True)
class StoredOutput:
    """`statement` sets `ctx.<attribute>` in `function`, a method of the Function; `is_output` where what it sets, or a
    part of that, is returned, and a tensor that forward computes else."""

    function: Function
    statement: ast.Assign | ast.Call
    ctx: str
    attribute: str
    is_output: bool


def find_outputs_on_ctx(program: Program) -> Iterator[StoredOutput]:
    """All of a program; a walk over the methods of its Functions alone."""
    for classes in program.names.classes.values():
        for each in classes:
            if any(base.rpartition(".")[2] == "Function" for base in each.bases):
                for name in ("forward", _WITH_OUTPUT):
                    if name in each.methods:
                        yield from _stored_in(each.methods[name], tensor_values(program))
                        yield from _stored_by_another(program, each.methods[name], tensor_values(program))


def _stored_in(function: Function, values: TensorValues) -> Iterator[StoredOutput]:
    if len(function.parameters) < 2:
        return
    ctx, outputs = function.parameters[0], _outputs(function)
    for binding in function.bindings:
        for attribute, value in _set_on(ctx, binding) if isinstance(binding, ast.Assign) else ():
            is_output = _is_output(value, outputs, function)
            if is_output or any(_is_computed(each, function, values) for each in _parts(value)):
                assert isinstance(binding, ast.Assign)
                yield StoredOutput(function, binding, ctx, attribute, is_output)
    for call in function.calls:
        for attribute, value in _put_on(ctx, call):
            is_output = _is_output(value, outputs, function)
            if is_output or any(_is_computed(each, function, values) for each in _parts(value)):
                yield StoredOutput(function, call, ctx, attribute, is_output)


def _is_output(value: ast.expr, outputs: set[str], function: Function) -> bool:
    return any(
        isinstance(each, ast.Name)
        and each.id in outputs
        and (each.id not in function.parameters or _is_made(each, function))
        for each in _parts(value)
    )


def _is_made(name: ast.Name, function: Function) -> bool:
    """Whether a parameter may have been bound anew where it is used, by a statement whose value may be returned."""
    lines = reaching_lines(function.source, function.qualname, name.id, name.lineno)
    made = {line for line, _ in function.bound.get(name.id, ())} & set(lines)
    returned = (part for each in function.returns if each.value is not None for part in _parts(each.value))
    return any(
        isinstance(each, ast.Name)
        and each.id == name.id
        and made & set(reaching_lines(function.source, function.qualname, name.id, each.lineno))
        for each in returned
    )


def _put_on(ctx: str, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """`setattr(ctx, "y", y)` and `ctx.kept.append(y)`."""
    for store in stores_of_call(call):
        of_ctx = store.receiver == ctx or store.receiver.startswith(f"{ctx}.")
        if of_ctx and store.kind in ("attribute", "grow", "item") and isinstance(store.value, ast.expr):
            yield store.name or "...", store.value


def _stored_by_another(program: Program, function: Function, values: TensorValues) -> Iterator[StoredOutput]:
    if len(function.parameters) < 2:
        return
    ctx, outputs = function.parameters[0], _outputs(function)
    for call, given in _handed_to_a_setter(program, function, ctx):
        is_output = any(_is_output(each, outputs, function) for each in given)
        if is_output or any(_is_computed(each, function, values) for each in given):
            yield StoredOutput(function, call, ctx, called_name(call), is_output)


def _handed_to_a_setter(program: Program, function: Function, ctx: str) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Calls that hand the context and values to a function of the program which sets attributes on it."""
    for call in function.calls:
        called = program.called_by(call, function)
        if called is None or not any(isinstance(each, ast.Name) and each.id == ctx for each in call.args):
            continue
        own = next(
            (
                name
                for name in called.parameters
                if any(isinstance(each, ast.Name) and each.id == ctx for each in given_to(name, called, call))
            ),
            "",
        )
        if own and _sets_attributes(called, own):
            others = [each for each in call.args if not (isinstance(each, ast.Name) and each.id == ctx)]
            yield call, [*others, *(each.value for each in call.keywords)]


def _sets_attributes(called: Function, name: str) -> bool:
    by_call = any(each.args and dotted(each.args[0]) == name for each in called.calls_of("setattr"))
    return by_call or any(place.startswith(f"{name}.") for place in called.bound)


def _set_on(ctx: str, binding: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    for target in binding.targets:
        is_display = isinstance(target, (ast.Tuple, ast.List))
        pairs = target_pairs(target, binding.value) if is_display else [(target, binding.value)]  # type: ignore[arg-type]
        for part, value in pairs:
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute):
                part = part.value
            if isinstance(part, ast.Attribute) and getattr(part.value, "id", None) == ctx:
                yield part.attr, value or binding.value


def _parts(value: ast.expr) -> list[ast.expr]:
    """A value, or what a display of a container, or the call of a class, takes up."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    if isinstance(value, ast.Call) and (called_name(value)[:1].isupper() or called_name(value) in ("dict", "tuple")):
        return [*value.args, *(each.value for each in value.keywords)]
    return [value]


def _is_computed(value: ast.expr, function: Function, values: TensorValues) -> bool:
    """Whether a value is a tensor that forward itself computes: no input, which lives on anyway, and no setting."""
    if isinstance(value, ast.Name) and value.id in function.parameters:
        return False
    compares = isinstance(value, ast.Compare) and isinstance(value.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    return (compares or isinstance(value, (ast.Name, ast.Call))) and bool(values.kind(value, function))


def _outputs(function: Function) -> set[str]:
    """Names of what the Function returns; its parameters are inputs, and no outputs where they are returned."""
    if function.name == _WITH_OUTPUT:
        return {function.parameters[-1]}
    returned = [each.value for each in function.returns]
    parts = [part for value in returned for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    inputs = {each for each in function.parameters if each not in function.bound}
    return {part.id for part in parts if isinstance(part, ast.Name)} - inputs
