"""Attributes that are computed from what they were before, graph and all, each time a function runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.syntax.kept.carried_places import carried_by_binding, carried_in_place
from tenure.syntax.kept.carried_variables import carried_beside_results, carried_through_calls
from tenure.syntax.program.functions import Function
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_known_to_run
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.framework_states import is_trained_elsewhere
from tenure.syntax.values.graph_values import backward_roots
from tenure.syntax.values.tensor_values import tensor_values


@dataclass(frozen=True)
class Carried:
    """`keep.place` is bound by `keep.node` to a value that leads to its old one; `is_sum` where it adds up losses and
    other figures, and is no state that is computed on."""

    function: Function
    keep: Keep
    is_sum: bool


@lru_cache(maxsize=1)
def find_carried(program: Program) -> tuple[Carried, ...]:
    """All of a program, in the order of its files."""
    return tuple(_find(program))


def _find(program: Program) -> Iterator[Carried]:
    values = tensor_values(program)
    for function in program.functions:
        yield from _in(function, carried_beside_results(program, function, values))
    if not any(
        backward_roots(each) or _asks_for_gradients(each) or is_trained_elsewhere(each) for each in program.functions
    ):
        for function in program.functions:  # nothing is trained here: what runs the others is not known
            runs = function.name not in INITIALISERS and is_known_to_run(program, function)
            if runs and not program.is_part_of_module(function):
                yield from _in(function, carried_by_binding(program, function, values))
        return
    for function in program.functions:
        if function.name in INITIALISERS or isinstance(function.node, ast.Module):
            yield from _in(function, carried_through_calls(program, function, values))
            continue
        yield from _in(function, carried_by_binding(program, function, values))
        yield from _in(function, carried_through_calls(program, function, values))
        yield from _in(function, carried_in_place(program, function, values))


def _in(function: Function, found: Iterator[tuple[Keep, bool]]) -> Iterator[Carried]:
    return (Carried(function, keep, is_sum) for keep, is_sum in found)


def _asks_for_gradients(function: Function) -> bool:
    return any(dotted(call.func).endswith("autograd.grad") for call in function.calls_of("grad"))
