"""Tables with weak keys whose values lead to their own keys: `WeakKeyDictionary` then lets nothing go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.arguments import all_parameters, given_to
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.keeping import Keep, keeps_of
from tenure.syntax.program.open_keys import key_of
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import runs_repeatedly
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.tensor_values import tensor_values

_MOST_STEPS = 3


@dataclass(frozen=True)
class WeakTable:
    """`keep` of `function` puts into a table with weak keys a value that has its key."""

    function: Function
    keep: Keep
    key: str


def find_weak_tables(program: Program) -> Iterator[WeakTable]:
    """All of a program, of values with tensors. Costs a look at what is put into tables of such names."""
    names = set(_weak_names(program))
    for function in program.functions if names else ():
        for keep in keeps_of(function):
            key = key_of(keep) if keep.kind == "element" else None
            if not isinstance(key, ast.Name) or keep.place.rpartition(".")[2] not in names:
                continue
            holds = _holds(program, keep.value, key.id, function, 0)
            if holds and _has_tensors(program, keep.value, function) and runs_repeatedly(program, function, keep.node):
                yield WeakTable(function, keep, key.id)


def _weak_names(program: Program) -> Iterator[str]:
    """Last names of what is bound to a `WeakKeyDictionary`, in functions, at tops of files and in classes."""
    for function in program.functions:
        if function.calls_of("WeakKeyDictionary"):
            for name, values in function.bound.items():
                if any(isinstance(each, ast.Call) and called_name(each) == "WeakKeyDictionary" for _, each in values):
                    yield name.rpartition(".")[2]


def _holds(program: Program, value: ast.expr, name: str, function: Function, steps: int) -> bool:
    """Whether a value is, or leads by what it is made of to, a variable."""
    if isinstance(value, ast.Name):
        if value.id == name:
            return True
        bound = function.bound.get(value.id, ())
        return steps < _MOST_STEPS and any(_holds(program, each, name, function, steps + 1) for _, each in bound)
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return any(_holds(program, each, name, function, steps) for each in value.elts)
    if isinstance(value, ast.Dict):
        return any(_holds(program, each, name, function, steps) for each in value.values)
    if isinstance(value, ast.Lambda):
        return any(isinstance(each, ast.Name) and each.id == name for each in walk(value))
    if isinstance(value, ast.Attribute):
        return _is_method_of(program, value, name, function)
    return isinstance(value, ast.Call) and steps < _MOST_STEPS and _call_holds(program, value, name, function, steps)


def _call_holds(program: Program, call: ast.Call, name: str, function: Function, steps: int) -> bool:
    given = [*call.args, *(each.value for each in call.keywords)]
    if called_name(call) in ("partial", "tuple", "list", "dict"):
        return any(_holds(program, each, name, function, steps + 1) for each in given)
    named = program.names.class_of(dotted(call.func), function.source)
    made = [named] if named is not None else [each.cls for each in program.objects.of(call.func, function)]
    if any(each is not None for each in made):
        known = [each for each in made if each is not None]
        return any(_is_given(one, name) and _stores(program, each, one, call) for one in given for each in known)
    called = program.called_by(call, function)
    if called is None or called.name == "__init__":
        return False
    own = [each for each in all_parameters(called) if any(_is_given(one, name) for one in given_to(each, called, call))]
    returned = [each.value for each in called.returns if each.value is not None]
    return any(_holds(program, value, parameter, called, steps + 1) for value in returned for parameter in own)


def _is_given(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Name) and value.id == name


def _stores(program: Program, cls: Class, value: ast.expr, call: ast.Call) -> bool:
    """Whether an object of the class stores what it is made with at this place."""
    first = program.method_of(cls, "__init__")
    if first is None:
        return bool(cls.fields)
    own = {each for each in all_parameters(first) if any(one is value for one in given_to(each, first, call))}
    stored = [value for name, values in first.bound.items() if "." in name for _, value in values]
    stored += [value for values in first.contents.values() for value in values]
    return any(isinstance(each, ast.Name) and each.id in own for each in stored)


def _is_method_of(program: Program, value: ast.Attribute, name: str, function: Function) -> bool:
    """Whether a value is a method of the key, which has its object."""
    if dotted(value.value) != name:
        return False
    classes = program.objects.classes_of(value.value, function)
    return any(program.method_of(each, value.attr) is not None for each in classes)


def _has_tensors(program: Program, value: ast.expr, function: Function) -> bool:
    values = tensor_values(program)
    objects = program.objects.classes_of(value, function)
    return bool(values.kind(value, function)) or any(values.of_objects(each) for each in objects)
