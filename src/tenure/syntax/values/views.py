"""Values that are parts of larger tensors, and keep all of their memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.arguments import all_parameters, given_to
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.hooked import tuples_given
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.value_parts import bound_names, gone_through, is_made_up
from tenure.syntax.values.tensor_values import TensorValues

_MOST_STEPS = 5
_MOST_CALLERS = 6


def is_view(program: Program, value: ast.expr, function: Function, values: TensorValues) -> bool:
    """Whether a value, or what a tuple, a dict or the call of a class takes up, is such a part."""
    views = _Views(program, values)
    return any(views.is_part(each, function, 0) for each in _kept_values(value))


_ROWS = frozenset({"unbind", "split", "chunk", "unfold", "select", "narrow", "diagonal"})
_PLACES = frozenset({"int", "item", "divmod", "unravel_index"})
_SAME_MEMORY = frozenset({"detach", "squeeze", "view", "flatten", "unsqueeze", "t", "permute", "transpose", "expand"})


def _kept_values(value: ast.expr) -> Iterator[ast.expr]:
    """A value, or what a tuple, a dict or the call of a class takes up."""
    if isinstance(value, (ast.Tuple, ast.List)):
        for each in value.elts:
            yield from _kept_values(each)
    elif isinstance(value, ast.Dict):
        for each in value.values:
            yield from _kept_values(each)
    elif isinstance(value, (ast.GeneratorExp, ast.ListComp)):
        yield from _kept_values(value.elt)
    elif isinstance(value, ast.Call) and (called_name(value)[:1].isupper() or called_name(value) in ("tuple", "list")):
        for each in (*value.args, *(keyword.value for keyword in value.keywords)):
            yield from _kept_values(each)
    else:
        yield value


class _Views:
    def __init__(self, program: Program, values: TensorValues) -> None:
        self._program = program
        self._values = values

    def is_part(self, value: ast.expr, function: Function, steps: int) -> bool:
        if steps > _MOST_STEPS:
            return False
        if isinstance(value, ast.Subscript):
            if is_made_up(value) and not _is_one_tensor(value.value, function):
                return False  # one of several values that a container has, as `x, y = batch`
            if dotted(value.value) in tuples_given(self._program, function, value.lineno):
                return False
            of_call = isinstance(value.value, ast.Call) and isinstance(value.slice, ast.Constant)
            return (
                not (of_call and self._gives_several(value.value, function))
                and self._selects(value.slice, function)
                and bool(self._values.kind(value.value, function))
                and _is_tensor_itself(value.value, function)
            )
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr in _ROWS:
                return bool(self._values.kind(value.func.value, function))
            if value.func.attr in _SAME_MEMORY:
                return self.is_part(value.func.value, function, steps + 1)
        if isinstance(value, ast.Call):
            called = self._program.called_by(value, function)
            given_back = [each.value for each in called.returns if each.value is not None] if called is not None else []
            return called is not None and any(self.is_part(each, called, steps + 1) for each in given_back)
        return isinstance(value, ast.Name) and self._is_part_by_name(value.id, function, steps)

    def _gives_several(self, call: ast.expr, function: Function) -> bool:
        """Whether a function of the program returns a tuple, of which an element is no part of a tensor."""
        called = self._program.called_by(call, function) if isinstance(call, ast.Call) else None
        return called is not None and any(isinstance(each.value, ast.Tuple) for each in called.returns)

    def _is_part_by_name(self, name: str, function: Function, steps: int) -> bool:
        if any(name in bound_names(loop.target) for loop in function.loops if isinstance(loop, ast.For)):
            return self._is_row(name, function)
        bound = function.bound.get(name, [])
        if any(self.is_part(each, function, steps + 1) for _, each in bound):
            return True
        if bound or name not in all_parameters(function):
            return False
        calls = self._program.callers(function)
        return len(calls) <= _MOST_CALLERS and any(
            self.is_part(value, caller, steps + 2) for caller, call in calls for value in given_to(name, function, call)
        )

    def _is_row(self, name: str, function: Function) -> bool:
        """Whether a loop goes through a tensor itself by this name."""
        for loop in function.loops:
            if isinstance(loop, ast.For):
                takes_apart = isinstance(loop.target, ast.Tuple) and not isinstance(loop.iter, ast.Call)
                if takes_apart and name in bound_names(loop.target):
                    return False
                for bound, iterated in gone_through(loop.target, loop.iter):
                    if bound == name and is_made_up(iterated):
                        return False
                    if bound == name and isinstance(iterated, ast.Attribute):
                        return False  # of what an object has it is seldom known that it is one tensor
                    if bound == name and not isinstance(iterated, ast.Call):
                        return bool(self._values.kind(iterated, function)) and _is_tensor_itself(iterated, function)
                    if bound == name and isinstance(iterated, ast.Call) and called_name(iterated) in _ROWS:
                        return True
        return False

    def _selects(self, index: ast.expr, function: Function) -> bool:
        """Whether an index takes a part without copying: numbers and slices, no list and no mask."""
        if isinstance(index, ast.Attribute) and dotted(index).startswith("self.") and function.owner is not None:
            bound = self._program.attribute_values(function.owner, index.attr)
            return bool(bound) and all(
                isinstance(value, (ast.Tuple, ast.Call)) and _selects(value) for value, _ in bound
            )
        return _selects(index) or (isinstance(index, ast.Name) and _is_chosen(index.id, function))


def _is_chosen(name: str, function: Function) -> bool:
    """Whether a name is a number, or a place, that was taken from a tensor, or a loop goes through such: some rows of
    many."""
    bound = [value for _, value in function.bound.get(name, ())]
    if bound and all(isinstance(each, ast.Call) and called_name(each) in _PLACES for each in bound):
        return True
    return any(
        isinstance(loop, ast.For)
        and dotted(loop.target) == name
        and isinstance(loop.iter, ast.Call)
        and called_name(loop.iter) == "tolist"
        for loop in function.loops
    )


def _is_one_tensor(taken_apart: ast.expr, function: Function) -> bool:
    """Whether what is taken apart by `x, y = value` may be a single tensor: what the function made itself, and no
    batch that it was given."""
    if isinstance(taken_apart, ast.Name):
        return taken_apart.id not in all_parameters(function)
    return not isinstance(taken_apart, (ast.Subscript, ast.Attribute))


def _is_tensor_itself(value: ast.expr, function: Function) -> bool:
    """Whether a value is no list, dict or tuple of tensors, as far as its own name and binding tell."""
    if isinstance(value, ast.Name):
        bound = [each.value for each in function.bindings if value.id in map(dotted, targets_of(each))]
        return not any(isinstance(each, (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp)) for each in bound)
    return isinstance(value, (ast.Call, ast.Attribute, ast.Subscript))


def _selects(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    numbers = all(
        isinstance(each, (ast.Slice, ast.UnaryOp))
        or (isinstance(each, ast.Call) and called_name(each) == "slice")
        or (isinstance(each, ast.Constant) and (each.value is None or isinstance(each.value, int) or each.value is ...))
        for each in parts
    )
    return numbers and not all(_is_whole(each) for each in parts)


def _is_whole(index: ast.expr) -> bool:
    if isinstance(index, ast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, ast.Constant) and (index.value is None or index.value is ...)
