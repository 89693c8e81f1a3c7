"""Tensors that ask for gradients: what is computed from them has a graph, though they themselves have none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.value_parts import gone_through, is_made_up

_OF_LAYERS = frozenset({"weight", "bias", "in_proj_weight", "weight_ih", "weight_hh"})
_LAYERS = re.compile(r"Linear|Bilinear|Embedding|EmbeddingBag|(Lazy)?Conv(Transpose)?[123]d|(RNN|LSTM|GRU)Cell")
"""Layers of torch, and the parameters that classes below them have from there."""
_MOST_STEPS = 3
_MOST_CALLERS = 4


def is_leaf(program: Program, node: ast.expr, function: Function, steps: int = 0) -> bool:
    """Whether a variable, or an attribute of a class, is made by `nn.Parameter(...)` or with `requires_grad=True`."""
    if isinstance(node, ast.Call):
        return makes_leaf(node)
    if steps > _MOST_STEPS or not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    name = dotted(node)
    if name.startswith("self.") and name.count(".") == 1 and function.owner is not None:
        bound = [value for value, _ in program.attribute_values(function.owner, name[5:])]
        if not bound and name[5:] in _OF_LAYERS and program.is_part_of_module(function):
            bases = {base.rpartition(".")[2] for each in program.relatives(function.owner) for base in each.bases}
            return any(map(_LAYERS.fullmatch, bases))
        return bool(bound) and all(isinstance(value, ast.Call) and makes_leaf(value) for value in bound)
    if _is_gone_through(name, function):
        return True
    values = [value for _, value in function.bound.get(name, ())]
    if not values and name in function.parameters:
        calls = program.callers(function)
        given = [(value, caller) for caller, call in calls for value in given_to(name, function, call)]
        return 0 < len(given) <= _MOST_CALLERS and all(is_leaf(program, *each, steps + 1) for each in given)
    return bool(values) and all(isinstance(value, ast.Call) and makes_leaf(value) for value in values)


def _is_gone_through(name: str, function: Function) -> bool:
    """Whether a loop or a comprehension goes through parameters by a name: `for name, p in net.named_parameters()`."""
    if name in function.loop_names:
        loops = [(each.target, each.iter) for each in function.loops if isinstance(each, ast.For)]
        return len(function.bound.get(name, ())) == 1 and _are_parameters(name, loops)
    return name not in function.bound and any(
        _are_parameters(name, [(each.target, each.iter) for each in one.generators]) for one in function.comprehensions
    )


def _are_parameters(name: str, loops: list[tuple[ast.expr, ast.expr]]) -> bool:
    """Whether a name of these is one of a module's parameters, also where they are gone through beside others."""
    return any(
        called_name(value) == "parameters" or (called_name(value) == "named_parameters" and element == 1)
        for target, iterated in loops
        for own, value, element in _gone_over(target, iterated)
        if own == name and isinstance(value, ast.Call)
    )


def _gone_over(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, ast.expr, int]]:
    """Names of a loop, each with what it comes from and its place in the pairs that this gives."""
    for own, value in gone_through(target, iterated):
        is_part = isinstance(value, ast.Subscript) and is_made_up(value)
        place = value.slice.value if is_part else 0  # type: ignore[attr-defined]
        yield own, value.value if is_part else value, place  # type: ignore[attr-defined]


def makes_leaf(call: ast.Call) -> bool:
    """Whether a call gives such a tensor, as written."""
    name = called_name(call)
    if name in ("Parameter", "requires_grad_"):
        first = call.args[0] if call.args else None
        return name == "Parameter" or getattr(first, "value", True) is not False
    return any(each.arg == "requires_grad" and getattr(each.value, "value", None) is True for each in call.keywords)
