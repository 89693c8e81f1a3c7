"""Which parameter of a function gets which argument of a call, as both are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenure.syntax.program.functions import Function
    from tenure.syntax.program.program import Program


def all_parameters(function: Function) -> tuple[str, ...]:
    """By place, by keyword alone, and those that take the rest."""
    if isinstance(function.node, ast.Module):
        return ()
    rest = (function.node.args.vararg, function.node.args.kwarg)
    return (*function.parameters, *(each.arg for each in rest if each is not None))


def annotation_of(name: str, function: Function) -> ast.expr | None:
    """How a parameter is annotated."""
    if isinstance(function.node, ast.Module):
        return None
    arguments = function.node.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if each.arg == name:
            return each.annotation
    return None


def default_of(name: str, function: Function) -> ast.expr | None:
    """What a parameter is where a call gives nothing for it."""
    if isinstance(function.node, ast.Module):
        return None
    arguments = function.node.args
    by_place = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(by_place), reversed(arguments.defaults), strict=False))
    pairs += [(each, value) for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return next((value for each, value in pairs if each.arg == name), None)


def given_to(name: str, function: Function, call: ast.Call) -> Iterator[ast.expr]:
    """What a call gives to a parameter of the function that it runs, unpacked arguments taken as a whole."""
    if isinstance(function.node, ast.Module):
        return
    arguments = function.node.args
    by_place = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if function.is_method:
        by_place = by_place[1:]
    takes_rest = arguments.vararg is not None and arguments.vararg.arg == name
    takes_named = arguments.kwarg is not None and arguments.kwarg.arg == name
    for place, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            if takes_rest or name in by_place[place:]:
                yield value.value
            break
        if by_place[place : place + 1] == [name] or (takes_rest and place >= len(by_place)):
            yield value
    for keyword in call.keywords:
        if keyword.arg == name or keyword.arg is None or (takes_named and keyword.arg not in function.parameters):
            yield keyword.value


def handed_to(
    program: Program, name: str, function: Function, call: ast.Call, caller: Function
) -> Iterator[tuple[ast.expr, Function]]:
    """As `given_to`, each with its function: where the caller hands on its own `**kwargs`, what it was given by this
    name."""
    starred = _handed_by_place(program, name, function, call, caller)
    if starred is not None:
        yield from starred
        return
    rest = getattr(caller.node, "args", None)
    named = rest.kwarg.arg if rest is not None and rest.kwarg is not None else ""
    handed_on = [each.value for each in call.keywords if each.arg is None and getattr(each.value, "id", "") == named]
    before = program.callers(caller) if handed_on and named else ()
    known = [(each.value, where) for where, given in before for each in given.keywords if each.arg == name]
    for value in given_to(name, function, call):
        if not known or value not in handed_on:
            yield value, caller
    yield from known


def _handed_by_place(
    program: Program, name: str, function: Function, call: ast.Call, caller: Function
) -> list[tuple[ast.expr, Function]] | None:
    """What a parameter gets of `*args` that the caller hands on as it was given them, each with its function; None
    where the call gives it something else."""
    own, rest = getattr(function.node, "args", None), getattr(caller.node, "args", None)
    if own is None or rest is None or rest.vararg is None or not call.args:
        return None
    last = call.args[-1]
    if not isinstance(last, ast.Starred) or getattr(last.value, "id", "") != rest.vararg.arg:
        return None
    by_place = [each.arg for each in (*own.posonlyargs, *own.args)][int(function.is_method) :]
    before = program.callers(caller)
    if name not in by_place[len(call.args) - 1 :] or not before:
        return None
    place = by_place.index(name) - (len(call.args) - 1)
    first = len(rest.posonlyargs) + len(rest.args) - int(caller.is_method)
    if any(isinstance(each, ast.Starred) for _, given in before for each in given.args):
        return None
    return [(given.args[first + place], where) for where, given in before if first + place < len(given.args)]
