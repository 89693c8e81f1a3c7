"""What an expression takes its value from, and what a statement binds to which part of a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.text.expressions import called_name, target_pairs
from tenure.syntax.text.scopes import COMPREHENSION_NAMES, dotted
from tenure.syntax.text.tree_walks import children, walk


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """What a call is given, what a method is called on first."""
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*receiver, *call.args, *(keyword.value for keyword in call.keywords)]


def parts_of(node: ast.expr) -> Iterator[ast.expr]:
    """What a display, an operation, an element or a comprehension takes its value from."""
    if isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _branches(node)
    elif type(node) in COMPREHENSION_NAMES:
        yield from _parts_of_comprehension(node)
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Starred)):
        yield from (each for each in children(node) if isinstance(each, ast.expr))
    elif isinstance(node, (ast.Await, ast.NamedExpr)):
        yield node.value


def _branches(node: ast.IfExp) -> list[ast.expr]:
    """Both values, but not `x` of `x.detach() if hasattr(x, "detach") else x`: there it is no tensor."""
    for one, other in ((node.body, node.orelse), (node.orelse, node.body)):
        if isinstance(one, ast.Call) and dotted(other) and _asks_for_kind(node.test):
            first: ast.expr = one
            while isinstance(first, ast.Call):
                of_argument = isinstance(first.func, ast.Name) and bool(first.args)
                if not of_argument and not isinstance(first.func, ast.Attribute):
                    break
                first = first.args[0] if of_argument else first.func.value  # type: ignore[attr-defined]
            if dotted(first) == dotted(other):
                return [one]
    return [node.body, node.orelse]


def _asks_for_kind(test: ast.expr) -> bool:
    """`isinstance(x, Tensor)`, `torch.is_tensor(x)`, `hasattr(x, "detach")`."""
    return any(
        isinstance(node, ast.Call) and called_name(node) in ("isinstance", "is_tensor", "hasattr", "callable")
        for node in walk(test)
    )


def _parts_of_comprehension(node: ast.expr) -> Iterator[ast.expr]:
    """Its element, and what it goes through where the element is that, or a part of that."""
    element = node.value if isinstance(node, ast.DictComp) else node.elt  # type: ignore[attr-defined]
    yield element
    inner = element
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        inner = inner.value
    generators = node.generators  # type: ignore[attr-defined]
    if isinstance(inner, ast.Name):
        yield from (each.iter for each in generators if inner.id in bound_names(each.target))


def bound_to(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Names with what each is bound to; an element of it where a value is taken apart."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield from ((name, value) for name in bound_names(target))
        return
    for at, (part, own) in enumerate(target_pairs(target, value)):
        if own is value:
            own = element_of(value, at)
        if own is not None:
            yield from bound_to(part, own)


def element_of(value: ast.expr, place: int) -> ast.Subscript:
    """`value[place]`, the same node each time it is asked for."""
    made: dict[int, ast.Subscript] = value.__dict__.setdefault("_elements", {})
    if place not in made:
        element = ast.Subscript(value=value, slice=ast.Constant(place), ctx=ast.Load())
        made[place] = ast.copy_location(element, value)
    return made[place]


def is_made_up(node: ast.expr) -> bool:
    """Whether it is what `element_of` gives, and no expression of the program."""
    made = node.value.__dict__.get("_elements", {}) if isinstance(node, ast.Subscript) else {}
    return any(each is node for each in made.values())


def gone_through(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Names of a loop with what each is an element of."""
    called = called_name(iterated) if isinstance(iterated, ast.Call) else ""
    parts = target.elts if isinstance(target, ast.Tuple) else []
    if called == "enumerate" and len(parts) == 2 and isinstance(iterated, ast.Call) and iterated.args:
        yield from gone_through(parts[1], iterated.args[0])
    elif called == "zip" and isinstance(iterated, ast.Call) and len(parts) == len(iterated.args):
        for part, argument in zip(parts, iterated.args, strict=True):
            yield from gone_through(part, argument)
    elif called == "items" and len(parts) == 2 and isinstance(iterated, ast.Call):
        yield from ((name, iterated) for name in bound_names(parts[1]))
    elif parts and isinstance(iterated, ast.Call):
        for at, part in enumerate(parts):
            yield from ((name, element_of(iterated, at)) for name in bound_names(part))
    else:
        yield from ((name, iterated) for name in bound_names(target))


def bound_names(target: ast.expr) -> Iterator[str]:
    """Variables and attributes that a target binds, tuples taken apart; no elements of containers."""
    if isinstance(target, (ast.Tuple, ast.List)):
        yield from (name for part in target.elts for name in bound_names(part))
    elif isinstance(target, ast.Starred):
        yield from bound_names(target.value)
    elif (name := dotted(target)) and "[]" not in name:
        yield name
