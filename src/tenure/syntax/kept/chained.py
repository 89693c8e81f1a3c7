"""Objects that each keep the one before: `self.head = Snapshot(weights, self.head)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Class, Function, is_in_body, targets_of
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import runs_repeatedly
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.tensor_values import tensor_values


@dataclass(frozen=True)
class Chained:
    """`statement` of `function` puts into `place` an object whose attribute `link`, bound by `linking` of `maker`, is
    the one that was there."""

    function: Function
    statement: ast.Assign
    place: str
    link: str
    maker: Function
    linking: ast.Assign


def find_chained(program: Program) -> Iterator[Chained]:
    """Chains of objects with tensors, of which nothing ever takes a link out. Costs a look at each statement that
    makes an object of the program's own from what was in its place."""
    for function in program.functions:
        for binding in function.bindings if function.name not in INITIALISERS else ():
            if isinstance(binding, ast.Assign) and isinstance(binding.value, ast.Call) and len(binding.targets) == 1:
                yield from _chained(program, function, binding, binding.value)


def _chained(program: Program, function: Function, binding: ast.Assign, call: ast.Call) -> Iterator[Chained]:
    place = dotted(targets_of(binding)[0])
    if not place or "[]" in place or not _lives_on(place, binding, function):
        return
    made = _made_from(program, function, call, place)
    if made is None:
        return
    cls, where, making, given = made
    found = _link(program, cls, where, making, given)
    if found is None or tensor_values(program).of_objects(cls) is Kind.NOTHING:
        return
    link, maker, linking = found
    if not runs_repeatedly(program, function, binding) or _is_ever_cut(program, function, binding, place, link):
        return
    yield Chained(function, binding, place, link, maker or function, linking or binding)


def _lives_on(place: str, binding: ast.Assign, function: Function) -> bool:
    """Whether what was in the place before is there when the statement runs again: an attribute, a variable that the
    function declares to be another's, or one from before the loop."""
    if "." in place or any(place in each.names for each in function.declarations):
        return True
    loops = function.loops_around(binding.lineno)
    others = [line for line, value in function.bound.get(place, ()) if value is not binding.value]
    if not loops or place in function.loop_names:
        return False
    return (bool(others) or place in function.parameters) and not any(is_in_body(line, loops[0]) for line in others)


def _made_from(
    program: Program, function: Function, call: ast.Call, place: str
) -> tuple[Class, Function, ast.Call, str] | None:
    """The class that a call makes an object of from what is in a place, with the call that does it, where that stands,
    and the place's name there: here, or in a method of the object that was there."""
    if any(dotted(each) == place for each in _given(call)):
        cls = program.names.class_of(dotted(call.func), function.source) if dotted(call.func) else None
        return (cls, function, call, place) if cls is not None else None
    if not isinstance(call.func, ast.Attribute) or dotted(call.func.value) != place:
        return None
    method = program.called_by(call, function)
    for each in method.returns if method is not None and method.is_method else ():
        made = each.value
        if isinstance(made, ast.Call) and method is not None and any(dotted(one) == "self" for one in _given(made)):
            cls = program.names.class_of(dotted(made.func), method.source) if dotted(made.func) else None
            if cls is not None:
                return cls, method, made, "self"
    return None


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _link(
    program: Program, cls: Class, where: Function, call: ast.Call, name: str
) -> tuple[str, Function | None, ast.Assign | None] | None:
    """The attribute by which an object keeps what the call gives it by a name, with the statement that binds it; of a
    class whose annotated fields are its arguments, the field."""
    first = program.method_of(cls, "__init__")
    if first is not None:
        linking = _linking(first, call, name)
        return (dotted(linking.targets[0]), first, linking) if linking is not None else None
    fields = list(cls.fields)
    by_place = [fields[at] for at, each in enumerate(call.args[: len(fields)]) if dotted(each) == name]
    by_name = [each.arg for each in call.keywords if each.arg in fields and dotted(each.value) == name]
    links = [each for each in (*by_place, *by_name) if each is not None]
    return (f"self.{links[0]}", None, None) if links else None


def _linking(first: Function, call: ast.Call, place: str) -> ast.Assign | None:
    """The statement of `__init__` that stores what the call gives it from the place."""
    names = [each for each in first.parameters if any(dotted(one) == place for one in given_to(each, first, call))]
    for binding in first.bindings:
        if not isinstance(binding, ast.Assign) or binding.value is None:
            continue
        for target in targets_of(binding):
            values = getattr(binding.value, "elts", [binding.value])
            targets = getattr(target, "elts", [target])
            for part, value in zip(targets, values, strict=False):
                if dotted(value) in names and dotted(part).startswith("self."):
                    return ast.copy_location(ast.Assign(targets=[part], value=value), binding)
    return None


def _is_ever_cut(program: Program, function: Function, binding: ast.Assign, place: str, link: str) -> bool:
    """Whether any statement outside of initialisers sets the place, or the link, to something else, or goes along the
    links of a variable, which then are wanted."""
    names = {each.rpartition(".")[2] for each in (place, link) if "." in each}
    for each in program.functions:
        if each.name in INITIALISERS:
            continue
        for other in each.bindings:
            targets = (target for target in targets_of(other) if isinstance(target, ast.Attribute))
            if other is not binding and any(target.attr in names for target in targets):
                return True
            value = other.value
            follows = isinstance(value, ast.Attribute) and dotted(value.value) in map(dotted, targets_of(other))
            if follows and f"self.{getattr(value, 'attr', '')}" == link:
                return True
        deleted = (target for one in each.deletes for target in one.targets if isinstance(target, ast.Attribute))
        if any(target.attr in names for target in deleted):
            return True
    return False
