"""Variables of a loop that each turn computes from what they were, through a call that is given them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.kept.carry_ended import is_cut
from tenure.syntax.kept.computed_from import comes_round
from tenure.syntax.kept.kept_graphs import read_by
from tenure.syntax.program.functions import Function, is_in_body
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_known_to_run
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import LoopNode
from tenure.syntax.text.value_parts import element_of
from tenure.syntax.values.graph_values import backward_root, backward_roots
from tenure.syntax.values.tensor_values import TensorValues


def carried_through_calls(program: Program, function: Function, values: TensorValues) -> Iterator[tuple[Keep, bool]]:
    """`loss, hidden = self.fit(chars, hidden)` in a loop, where the graph is retained for the next turn."""
    for binding in function.bindings:
        loops = function.loops_around(binding.lineno)
        if not isinstance(binding, ast.Assign) or not loops:
            continue
        for name, place in _bound_places(binding).items():
            loop = _training_turn(loops, name, function)
            retains = _retains(program, binding.value, function, loop)
            is_given = _is_given(name, binding.value) or _is_asked(program, name, binding.value, function)
            beside = is_given and _is_beside_training(name, function, loop)
            if not retains and not beside:
                continue
            if is_given or (_is_there_before(name, function, loop) and comes_round(binding, name, function)):
                keep = Keep("sum", name, binding.value, binding)
                if values.kind(_element(binding.value, place), function) is Kind.GRAPH and not is_cut(
                    name, function, loop
                ):
                    yield keep, False


def _training_turn(loops: list[LoopNode], name: str, function: Function) -> LoopNode:
    """The loop whose turns run backward: the innermost, or one around it that the variable is there before and that
    binds it in no other way than the inner ones do."""
    inner = loops[-1]
    for loop in reversed(loops):
        trains = any(is_in_body(each.lineno, loop) for each in function.calls_of("backward"))
        anew = [
            line for line, _ in function.bound.get(name, ()) if is_in_body(line, loop) and not is_in_body(line, inner)
        ]
        if anew or not _is_there_before(name, function, loop):
            break
        if trains:
            return loop
    return inner


def _is_asked(program: Program, name: str, value: ast.expr, function: Function) -> bool:
    """Whether a value is what a method of the program gives that is called on a variable: `dual = dual.stepped(x)`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owner = value.func.value
    return isinstance(owner, ast.Name) and owner.id == name and program.called_by(value, function) is not None


def carried_beside_results(program: Program, function: Function, values: TensorValues) -> Iterator[tuple[Keep, bool]]:
    """`heard, cache = encoder(chunk, cache)` in a loop of a function that runs nothing backward and gives back, keeps
    and hands on nothing that has a graph: nobody ever wants the graph of all turns."""
    if program.is_part_of_module(function) or backward_roots(function) or not is_known_to_run(program, function):
        return
    wanted: set[str] | None = None
    for binding in function.bindings:
        loops = function.loops_around(binding.lineno)
        if not isinstance(binding, ast.Assign) or not loops:
            continue
        for name, place in _bound_places(binding).items():
            if not _is_given(name, binding.value) or not _is_there_before(name, function, loops[-1]):
                continue
            element = _element(binding.value, place)
            if values.kind(element, function) is not Kind.GRAPH or is_cut(name, function, loops[-1]):
                continue
            wanted = _wanted_of(program, function) if wanted is None else wanted
            if not wanted & {name, *_bound_places(binding)}:
                yield Keep("sum", name, binding.value, binding), False


def _wanted_of(program: Program, function: Function) -> set[str]:
    """What a function's results, what it stores, and what it gives to functions that are not known lead to."""
    roots = [each.value for each in (*function.returns, *function.yields) if each.value is not None]
    roots += [value for values in function.contents.values() for value in values]
    roots += [value for name, values in function.bound.items() if "." in name for _, value in values]
    for call in function.calls_of("backward", "grad", "step"):
        roots += [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    declared = {name for each in function.declarations for name in each.names}
    return read_by(roots, function) | declared


def _is_beside_training(name: str, function: Function, loop: LoopNode) -> bool:
    """Whether each turn runs backward, and not through the variable: its graph was freed after the first turn."""
    calls = [each for each in function.calls_of("backward") if is_in_body(each.lineno, loop)]
    roots = [root for each in calls if (root := backward_root(each)) is not None]
    return bool(roots) and name not in read_by(roots, function)


def _is_given(name: str, value: ast.expr) -> bool:
    """Whether a call is given a variable, alone or in a tuple or list that is written there."""
    given = value.args if isinstance(value, ast.Call) else []
    parts = [part for each in given for part in getattr(each, "elts", [each])]
    return any(isinstance(each, ast.Name) and each.id == name for each in parts)


def _is_there_before(name: str, function: Function, loop: LoopNode) -> bool:
    lines = [line for line, _ in function.bound.get(name, ())]
    return name in function.parameters or any(not is_in_body(line, loop) for line in lines)


def _bound_places(binding: ast.Assign) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for target in binding.targets:
        if isinstance(target, ast.Tuple):
            parts = ((place, part) for place, each in enumerate(target.elts) for part in getattr(each, "elts", [each]))
            found |= {part.id: place for place, part in parts if isinstance(part, ast.Name)}
        elif isinstance(target, ast.Name):
            found[target.id] = None
    return found


def _element(value: ast.expr, place: int | None) -> ast.expr:
    return value if place is None else element_of(value, place)


def _retains(program: Program, value: ast.expr, function: Function, loop: LoopNode) -> bool:
    """Whether a backward pass of the turn keeps its graph: here, or in what the value is a call of."""
    called = program.called_by(value, function) if isinstance(value, ast.Call) else None
    calls = [each for each in function.calls if is_in_body(each.lineno, loop)] + (called.calls if called else [])
    return any(map(retains_graph, calls))


def retains_graph(call: ast.Call) -> bool:
    """Whether a backward pass is written so that it leaves the graph for another one."""
    return any(each.arg == "retain_graph" and getattr(each.value, "value", None) is True for each in call.keywords)
