"""Exceptions that an `except` block stores, and with them the frames that they went through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.arguments import given_to
from tenure.syntax.expressions import called_name
from tenure.syntax.keeping import keeps_of
from tenure.syntax.program import Binding, Function, Program, targets_of
from tenure.syntax.scopes import dotted


@dataclass(frozen=True)
class KeptError:
    """`statement` of `function` keeps the exception that is `name` there, in `place`."""

    function: Function
    statement: ast.expr | ast.stmt
    name: str
    place: str


def find_kept_errors(program: Program) -> Iterator[KeptError]:
    """Of blocks that name their exception; what a function of the program does with one that it is given counts."""
    seen: set[int] = set()
    for function in program.functions:
        for handler in function.handlers:
            if not _is_stripped(handler) and not _is_of_import(handler):
                for kept in _stored(program, function, handler.name or "the exception", _span(handler), 0):
                    if id(kept.statement) not in seen:
                        seen.add(id(kept.statement))
                        yield kept


def _span(handler: ast.ExceptHandler) -> tuple[int, int]:
    return handler.lineno, handler.end_lineno or handler.lineno


def _stored(program: Program, function: Function, name: str, lines: tuple[int, int], depth: int) -> Iterator[KeptError]:
    def is_inside(node: ast.AST) -> bool:
        return lines[0] <= getattr(node, "lineno", 0) <= lines[1]

    for binding in filter(is_inside, function.bindings):
        if binding.value is not None and holds(binding.value, name):
            for target in targets_of(binding):
                place = dotted(target)
                if _outlives(place, binding, function, name):
                    yield KeptError(function, binding, name, place)
    for keep in keeps_of(function):
        is_kept = isinstance(keep.node, ast.Call) and is_inside(keep.node) and holds(keep.value, name)
        if is_kept and ("." in keep.place or _is_from_before(keep.place, keep.node, function)):
            yield KeptError(function, keep.node, name, keep.place)
    for call in filter(is_inside, function.calls):
        called = program.called_by(call, function)
        if depth or called is None or called is function or called.name == "__init__":
            continue
        for parameter in called.parameters:
            if any(isinstance(each, ast.Name) and each.id == name for each in given_to(parameter, called, call)):
                yield from _stored(program, called, parameter, (0, 1 << 30), depth + 1)


def holds(value: ast.expr, name: str) -> bool:
    """Whether a value is the exception itself or an object, tuple or dict that is made with it; its text is not."""
    if isinstance(value, ast.Name):
        return value.id == name
    if isinstance(value, ast.Attribute):
        return value.attr == "__traceback__" and dotted(value.value) == name
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(holds(each, name) for each in value.elts)
    if isinstance(value, ast.Dict):
        return any(holds(each, name) for each in value.values)
    if isinstance(value, ast.BoolOp):
        return any(holds(each, name) for each in value.values)
    if isinstance(value, ast.Call):
        made = called_name(value)
        is_class = made.lstrip("_")[:1].isupper()
        if dotted(value.func) == "sys.exc_info":
            return True
        return is_class and any(holds(each, name) for each in (*value.args, *(each.value for each in value.keywords)))
    return False


def _outlives(place: str, binding: Binding, function: Function, name: str) -> bool:
    """An attribute or an element of one; or a variable that is raised later, from the frame that the traceback
    holds, and so closes a ring."""
    if not place or place == name:
        return False
    if "." in place:
        return True
    if place.endswith("[]"):
        return _is_from_before(place.replace("[]", ""), binding, function)
    is_cleared = any(place in map(dotted, delete.targets) for delete in function.deletes)
    raises = (node.exc for node in ast.walk(function.node) if isinstance(node, ast.Raise))
    in_loop = bool(function.loops_around(binding.lineno))
    return in_loop and not is_cleared and any(isinstance(each, ast.Name) and each.id == place for each in raises)


def _is_from_before(place: str, node: ast.AST, function: Function) -> bool:
    """Whether a container is there before the loop that an `except` block is in, and so keeps one error per turn."""
    loops = function.loops_around(getattr(node, "lineno", 0))
    bound = [each.lineno for each in function.bindings if place in map(dotted, targets_of(each))]
    return bool(loops) and bool(bound) and all(line < loops[0].lineno for line in bound)


def _is_of_import(handler: ast.ExceptHandler) -> bool:
    """Whether what is caught is that a package is missing: it went through no frame of a step."""
    return handler.type is not None and any(
        dotted(each) in ("ImportError", "ModuleNotFoundError") for each in ast.walk(handler.type)
    )


def _is_stripped(handler: ast.ExceptHandler) -> bool:
    """Whether the block takes the traceback off: `error.with_traceback(None)`, `error.__traceback__ = None`."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Attribute) and node.attr in ("with_traceback", "clear_frames"):
            return True
        if isinstance(node, ast.Assign) and any(dotted(each).endswith(".__traceback__") for each in node.targets):
            return True
    return False
