"""Loops whose turns train or run a module: here, or in a function of the program that they call."""

from __future__ import annotations

from tenure.syntax.program.functions import Function, is_in_body
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import LoopNode
from tenure.syntax.values.graph_values import GraphValues, backward_root


def works_in(program: Program, function: Function, loop: LoopNode) -> bool:
    """Whether each turn of a loop runs a module or a backward pass, one call deep."""
    if GraphValues(program, function).works_in(loop):
        return True
    called = (program.called_by(call, function) for call in function.calls if is_in_body(call.lineno, loop))
    return any(each is not None and any(map(backward_root, each.calls)) for each in called)
