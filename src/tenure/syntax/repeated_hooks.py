"""Hooks of modules that a program registers again and again and never removes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.graph_values import GraphValues
from tenure.syntax.program import Function, Program

_OF_MODULES = frozenset(
    f"register_{kind}"
    for kind in ("forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook", "backward_hook")
)
_ONCE = frozenset({"__init__", "setup", "configure_model", "build", "__post_init__"})


def find_repeated_hooks(program: Program) -> Iterator[tuple[Function, ast.Call]]:
    """Registrations in a training loop, or in a step or forward that is called for each batch, whose handle is thrown
    away: nobody can remove these."""
    for function in program.functions:
        hooks = [call for call in function.calls if _is_hook(call)]
        thrown_away = _statements(function) if hooks else set()
        for call in hooks:
            if id(call) in thrown_away and _runs_each_step(program, function, call):
                yield function, call


def _is_hook(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _OF_MODULES


def _statements(function: Function) -> set[int]:
    """Calls that are statements of their own: their results are thrown away."""
    return {id(node.value) for node in ast.walk(function.node) if isinstance(node, ast.Expr)}


def _runs_each_step(program: Program, function: Function, call: ast.Call) -> bool:
    if function.name in _ONCE:
        return False
    values = GraphValues(program, function)
    if any(values.works_in(loop) for loop in function.loops_around(call.lineno)):
        return True
    in_model = function.name == "forward" and program.is_part_of_module(function)
    return bool(values.roots) or in_model
