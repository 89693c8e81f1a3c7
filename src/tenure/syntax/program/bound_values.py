"""What a function binds its variables and attributes to, and what it puts into containers, by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tenure.syntax.text.expressions import called_name, place_of, split_receiver
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.store_calls import stores_of_call
from tenure.syntax.text.value_parts import bound_to, gone_through

if TYPE_CHECKING:
    from tenure.syntax.program.functions import Function

_HANDED = frozenset({"set_result", "set", "send", "push", "store"})
"""Methods that are given one value, which others of the same object give back."""


def bindings_of(function: Function) -> dict[str, list[tuple[int, ast.expr]]]:
    """Per variable and attribute its values, each with the line; elements, where a loop goes through something."""
    found: dict[str, list[tuple[int, ast.expr]]] = {}
    for binding in function.bindings:
        if binding.value is not None:
            for target in binding.targets if isinstance(binding, ast.Assign) else [binding.target]:
                for name, value in bound_to(target, binding.value):
                    found.setdefault(name, []).append((binding.lineno, value))
    for loop in function.loops:
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            for name, value in gone_through(loop.target, loop.iter):
                found.setdefault(name, []).append((loop.lineno, value))
    for each in function.withs:
        for item in each.items:
            if item.optional_vars is not None:
                for name, value in bound_to(item.optional_vars, entered(item, "__enter__")):
                    found.setdefault(name, []).append((each.lineno, value))
    return found


def entered(item: ast.withitem, method: str) -> ast.Call:
    """The call of `__enter__` or `__exit__` that a `with` statement makes, the same node each time."""
    made: dict[str, ast.Call] = item.__dict__.setdefault("_entered", {})
    if method not in made:
        func = ast.Attribute(value=item.context_expr, attr=method, ctx=ast.Load())
        call = ast.Call(func=ast.copy_location(func, item.context_expr), args=[], keywords=[])
        made[method] = ast.copy_location(call, item.context_expr)
    return made[method]


def contents_of(function: Function) -> dict[str, list[ast.expr]]:
    """Per container, as it is written without its keys, the values that are put into it."""
    found: dict[str, list[ast.expr]] = {}
    for name, value in _put(function):
        if name:
            found.setdefault(name.replace("[]", ""), []).append(value)
    return found


def _put(function: Function) -> Iterator[tuple[str, ast.expr]]:
    for binding in function.bindings:
        if isinstance(binding, ast.Assign):
            for target in binding.targets:
                if isinstance(target, ast.Subscript):
                    yield place_of(target.value), binding.value
    for call in function.calls:
        for store in stores_of_call(call):
            if store.kind in ("grow", "item", "attribute") and store.name and isinstance(store.value, ast.expr):
                yield f"{store.receiver}.{store.name}" if store.receiver else store.name, store.value
        if called_name(call) in _HANDED and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            receiver, name = split_receiver(call.func.value)
            yield f"{receiver}.{name}" if receiver and name else name, call.args[0]


def frozen_in(function: Function) -> frozenset[str]:
    """Modules that a function freezes: `teacher.requires_grad_(False)`, or each of `teacher.parameters()` in a loop."""
    found = {
        dotted(call.func.value)
        for call in function.calls_of("requires_grad_")
        if isinstance(call.func, ast.Attribute) and call.args and getattr(call.args[0], "value", None) is False
    }
    for loop in function.loops:
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and called_name(loop.iter) == "parameters":
            name = dotted(loop.target)
            if name in found or any(_sets_no_gradient(node, name) for node in loop.body):
                found.add(dotted(loop.iter.func.value) if isinstance(loop.iter.func, ast.Attribute) else "")
    return frozenset(found - {""})


def _sets_no_gradient(node: ast.stmt, name: str) -> bool:
    """`parameter.requires_grad = False`."""
    return (
        isinstance(node, ast.Assign)
        and dotted(node.targets[0]) == f"{name}.requires_grad"
        and getattr(node.value, "value", None) is False
    )
