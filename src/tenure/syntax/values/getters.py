"""What `operator.itemgetter`, `attrgetter` and `methodcaller` give of what they are called with, written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted

_GETTERS = frozenset({"itemgetter", "attrgetter", "methodcaller"})


def gotten(program: Program, call: ast.Call, function: Function) -> ast.expr | None:
    """`row["loss"]` for `get(row)` with `get = itemgetter("loss")`, several as a tuple; None of any other call. The
    same node each time."""
    getter = _getter(program, call.func, function) if len(call.args) == 1 and not call.keywords else None
    return None if getter is None else applied(getter, call.args[0])


def applied(getter: ast.Call, value: ast.expr) -> ast.expr:
    """What a getter gives of a value."""
    made: dict[int, ast.expr] = value.__dict__.setdefault("_gotten", {})
    if id(getter) not in made:
        parts = [ast.copy_location(each, value) for each in _parts(getter, value)]
        whole = parts[0] if len(parts) == 1 else ast.copy_location(ast.Tuple(elts=parts, ctx=ast.Load()), value)
        made[id(getter)] = whole
    return made[id(getter)]


def is_getter(node: ast.expr) -> bool:
    """Whether an expression makes a getter."""
    return isinstance(node, ast.Call) and called_name(node) in _GETTERS and bool(node.args)


def _getter(program: Program, called: ast.expr, function: Function) -> ast.Call | None:
    if isinstance(called, ast.Call):
        return called if is_getter(called) else None
    name = dotted(called)
    bound = [value for _, value in function.bound.get(name, ())]
    if name.startswith("self.") and function.owner is not None:
        bound = [value for value, _ in program.attribute_values(function.owner, name[5:])]
        bound += function.owner.set_in_body.get(name[5:], ())
    elif not bound and "." not in name:
        top = program.names.top_with(name, function.source)
        bound = [value for _, value in top.bound[name]] if top is not None else []
    made = [each for each in bound if is_getter(each)]
    return made[0] if len(made) == len(bound) == 1 and isinstance(made[0], ast.Call) else None


def _parts(getter: ast.Call, value: ast.expr) -> Iterator[ast.expr]:
    kind = called_name(getter)
    if kind == "methodcaller":
        name = getattr(getter.args[0], "value", "")
        method = ast.copy_location(ast.Attribute(value=value, attr=str(name), ctx=ast.Load()), value)
        yield ast.Call(func=method, args=getter.args[1:], keywords=getter.keywords)
        return
    for key in getter.args:
        if kind == "itemgetter":
            yield ast.Subscript(value=value, slice=key, ctx=ast.Load())
            continue
        whole = value
        for name in str(getattr(key, "value", "")).split("."):
            whole = ast.copy_location(ast.Attribute(value=whole, attr=name, ctx=ast.Load()), value)
        yield whole
