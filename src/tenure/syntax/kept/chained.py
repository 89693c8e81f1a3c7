"""Objects that each keep the one before: `self.head = Snapshot(weights, self.head)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function, targets_of
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
    makes an object of the program's own from an attribute."""
    for function in program.functions:
        for binding in function.bindings if function.name not in INITIALISERS else ():
            if isinstance(binding, ast.Assign) and isinstance(binding.value, ast.Call) and function.owner is not None:
                yield from _chained(program, function, binding, binding.value)


def _chained(program: Program, function: Function, binding: ast.Assign, call: ast.Call) -> Iterator[Chained]:
    place = dotted(targets_of(binding)[0])
    given = [*call.args, *(each.value for each in call.keywords)]
    if not place.startswith("self.") or not any(dotted(each) == place for each in given):
        return
    cls = program.class_of(dotted(call.func), function.source)
    first = program.method_of(cls, "__init__") if cls is not None else None
    if cls is None or first is None or tensor_values(program).of_objects(cls) is Kind.NOTHING:
        return
    linking = _linking(first, call, place)
    if linking is None or not runs_repeatedly(program, function, binding):
        return
    link = dotted(linking.targets[0])
    if not _is_ever_cut(program, function, binding, place, link):
        yield Chained(function, binding, place, link, first, linking)


def _linking(first: Function, call: ast.Call, place: str) -> ast.Assign | None:
    """The statement of `__init__` that stores what the call gives it from the place."""
    names = [each for each in first.parameters if any(dotted(one) == place for one in given_to(each, first, call))]
    for binding in first.bindings:
        is_stored = isinstance(binding, ast.Assign) and dotted(binding.value) in names
        if is_stored and dotted(targets_of(binding)[0]).startswith("self."):
            return binding  # type: ignore[return-value]
    return None


def _is_ever_cut(program: Program, function: Function, binding: ast.Assign, place: str, link: str) -> bool:
    """Whether any statement outside of initialisers sets the place, or the link, to something else."""
    names = {place.rpartition(".")[2], link.rpartition(".")[2]}
    for each in program.functions:
        if each.name in INITIALISERS:
            continue
        for other in each.bindings:
            targets = (target for target in targets_of(other) if isinstance(target, ast.Attribute))
            if other is not binding and any(target.attr in names for target in targets):
                return True
        deleted = (target for one in each.deletes for target in one.targets if isinstance(target, ast.Attribute))
        if any(target.attr in names for target in deleted):
            return True
    return False
