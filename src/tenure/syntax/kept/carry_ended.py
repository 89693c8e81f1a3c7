"""What ends that a value is computed from its old one: it is set anew, or its graph is cut."""

from __future__ import annotations

import ast

from tenure.syntax.program.functions import Function, is_in_body, targets_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_never_called
from tenure.syntax.text.scopes import LoopNode, dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.graph_values import is_cutting


def is_set_anew(program: Program, keep: Keep, function: Function, *, in_function_alone: bool) -> bool:
    """Whether the class sets the attribute to something else where it is not made: by a reset, or in each call.

    A meter that is set back once in an epoch holds the graphs of all steps until then.
    """
    last = keep.place.rpartition(".")[2]
    for each in program.names.functions_in(function.source):
        if each.name in INITIALISERS or (in_function_alone and each is not function) or is_never_called(program, each):
            continue
        for binding in each.bindings:
            if binding is keep.node or isinstance(binding, ast.AugAssign) or binding.value is None:
                continue
            parts = [part for target in targets_of(binding) for part in getattr(target, "elts", [target])]
            if any(isinstance(part, ast.Attribute) and part.attr == last for part in parts) or (
                "." not in keep.place
                and any(last in one.names for one in each.declarations)
                and any(isinstance(part, ast.Name) and part.id == last for part in parts)
            ):
                if each is function and _is_first_use(binding, function):
                    continue
                return True
    return False


def is_reset_between_steps_alone(program: Program, keep: Keep, function: Function) -> bool:
    """Whether all that sets the attribute elsewhere is called outside of the loop that runs backward, as at the start
    of an episode, and detaches nothing."""
    last = keep.place.rpartition(".")[2]
    setting = [
        (each, value)
        for each in program.names.functions_in(function.source)
        if each.name not in INITIALISERS
        for name, bound in each.bound.items()
        if name.rpartition(".")[2] == last and "." in name
        for _, value in bound
        if value is not keep.value
    ]
    if any(each is function or _detaches(value) for each, value in setting):
        return False
    callers = [found for each, _ in setting for found in program.callers(each)]
    return bool(callers) and all(_is_around_training(caller, call) for caller, call in callers)


def _detaches(value: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) and is_cutting(each) for each in walk(value))


def _is_around_training(function: Function, call: ast.Call) -> bool:
    """Whether a function runs backward in a loop that a call stands outside of."""
    around = function.loops_around(call.lineno)
    loops = [function.loops_around(each.lineno) for each in function.calls_of("backward", "manual_backward")]
    return bool(loops) and all(each and each[-1] not in around for each in loops)


def _is_first_use(binding: ast.stmt | ast.NamedExpr, function: Function) -> bool:
    """Whether a binding is under `if self.x is None`: it happens once."""
    for node in walk(function.node):
        if isinstance(node, ast.If) and node.body[0].lineno <= binding.lineno <= (node.body[-1].end_lineno or 0):
            return any(isinstance(each, ast.Constant) and each.value is None for each in walk(node.test))
    return False


def is_cut(name: str, function: Function, loop: LoopNode) -> bool:
    """Whether a turn of the loop detaches a variable, or binds it to what is made of its detached parts."""
    made_anew = [value for line, value in function.bound.get(name, ()) if is_in_body(line, loop)]
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("detach", "detach_")
        and dotted(call.func.value) == name
        and is_in_body(call.lineno, loop)
        for call in function.calls
    ) or any(
        isinstance(node, ast.Attribute) and node.attr in ("detach", "detach_")
        for value in made_anew
        for node in walk(value)
    )
