"""Attributes that are computed from what they were before, graph and all, each time a function runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.syntax.kept.computed_from import comes_round, is_computed_from
from tenure.syntax.kept.kept_graphs import goes_backward_somewhere, read_by
from tenure.syntax.kept.sums_by_calls import summed_by_calls, summed_of_sent
from tenure.syntax.kept.wanted_graphs import is_wanted
from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Binding, Function, is_in_body, targets_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_never_called
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import LoopNode, dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.text.value_parts import bound_to, element_of
from tenure.syntax.values.framework_states import is_trained_elsewhere
from tenure.syntax.values.graph_values import (
    CUTTING,
    backward_root,
    backward_roots,
    is_cutting,
    is_loss_name,
    is_module_name,
)
from tenure.syntax.values.tensor_values import TensorValues, tensor_values
from tenure.syntax.values.without_graph import is_without_graph

_ADDING = frozenset(
    {"add_", "lerp_", "copy_", "index_add_", "index_copy_", "addcmul_", "baddbmm_", "addmm_", "scatter_add_"}
)


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
        yield from _beside_results(program, function, values)
    if not any(
        backward_roots(each) or _asks_for_gradients(each) or is_trained_elsewhere(each) for each in program.functions
    ):
        for function in program.functions:
            if function.name not in INITIALISERS and _is_known_to_run(program, function):
                yield from () if program.is_part_of_module(function) else _bound(program, function, values)
        return  # nothing is trained here: what runs the others is not known
    for function in program.functions:
        if function.name in INITIALISERS or isinstance(function.node, ast.Module):
            yield from _through_calls(program, function, values)
            continue
        yield from _bound(program, function, values)
        yield from _through_calls(program, function, values)
        yield from _in_place(program, function, values)


def _bound(program: Program, function: Function, values: TensorValues) -> Iterator[Carried]:
    """Attributes, and elements of attributes, that a statement binds to what is computed from them."""
    declared = {name for each in function.declarations for name in each.names}
    for binding in function.bindings:
        for place, value in _places_bound(binding):
            of_others = place in declared and isinstance(value, (ast.Call, ast.Subscript))
            if "." not in place and not of_others and not _is_in_global(program, place, binding, function):
                continue
            if is_module_name(place.partition(".")[0]) or _is_cut_from(value, place):
                continue  # modules are rebuilt so, and lists are shortened
            adds = isinstance(binding, ast.AugAssign) and isinstance(binding.op, ast.Add)
            is_display = isinstance(value, (ast.List, ast.Tuple))
            carries_on = (
                isinstance(binding, ast.Assign)
                and not _is_cache_entry(binding)
                and _leads_to(value, place, program, function)
            )
            if (adds and not is_display) or carries_on:
                is_sum = adds or isinstance(value, ast.BinOp)
                keep = Keep("sum", place, value, binding)
                if _is_kept(program, keep, function, values, is_sum=is_sum):
                    yield Carried(function, keep, is_sum and _adds_figures(keep))
    for keep in summed_by_calls(function):
        if _is_kept(program, keep, function, values, is_sum=True):
            yield Carried(function, keep, True)
    for keep in summed_of_sent(function):
        is_graph = values.kind(keep.value, function) is Kind.GRAPH
        if is_graph and not _is_cut(keep.place, function, function.loops_around(keep.node.lineno)[-1]):
            yield Carried(function, keep, _adds_figures(keep))


def _is_in_global(program: Program, place: str, binding: Binding, function: Function) -> bool:
    """Whether what is bound is an element of a variable of the file: `_running["mean"] = ...`."""
    is_element = any(isinstance(each, ast.Subscript) for each in targets_of(binding))
    own = place in function.bound or place in function.parameters
    return is_element and not own and program.names.top_with(place, function.source) is not None


def _is_cut_from(value: ast.expr, place: str) -> bool:
    """`self.rows = self.rows[-limit:]`: less of what is there, and nothing computed."""
    return isinstance(value, ast.Subscript) and dotted(value.value) == place


_CACHE = re.compile(r"cache|past|(^|[._])(keys|values|kv)($|[._])")
"""What a generation keeps of its tokens, with no graph as it is meant to be used."""
_FIGURES = re.compile(r"(^|_)(total|sum|mean|avg|average|running|ema|smooth|smoothed|metric|score|value|level)s?($|_)")


def _is_cache_entry(binding: Binding) -> bool:
    """Whether an element is bound whose key says that it is what a generation keeps: `self.context["cache"] = ...`."""
    keys = [getattr(each.slice, "value", None) for each in targets_of(binding) if isinstance(each, ast.Subscript)]
    return any(isinstance(key, str) and _CACHE.search(key) for key in keys)


def _adds_figures(keep: Keep) -> bool:
    """Whether a sum is one of losses, means or other figures, by its names."""
    names = [keep.place.rpartition(".")[2]]
    names += [getattr(each, "id", getattr(each, "attr", "")) for each in walk(keep.value)]
    return bool(_FIGURES.search(names[0])) or any(map(is_loss_name, names))


def _places_bound(binding: Binding) -> Iterator[tuple[str, ast.expr]]:
    """What a statement binds, each with its own part of the value: `loss, self.state = ...`."""
    if binding.value is None:
        return
    for target in targets_of(binding):
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from bound_to(target, binding.value)
        else:
            yield dotted(target).replace("[]", ""), binding.value


def _in_place(program: Program, function: Function, values: TensorValues) -> Iterator[Carried]:
    """`self.mean.mul_(0.9).add_(0.1 * loss)` and `self.scores[index] = scores`: the tensor stays, its graph grows."""
    for call in function.calls_of(*_ADDING):
        if isinstance(call.func, ast.Attribute):
            place = _changed(call.func.value)
            given = [*call.args, *(each.value for each in call.keywords)]
            for value in given if place.startswith("self.") else ():
                keep = Keep("sum", place, value, call)
                if values.kind(value, function) is Kind.GRAPH and _is_kept(program, keep, function, values):
                    yield Carried(function, keep, True)
    for binding in function.bindings:
        for target in targets_of(binding):
            place = dotted(target).replace("[]", "")
            if isinstance(target, ast.Subscript) and place.startswith("self.") and binding.value is not None:
                keep = Keep("sum", place, binding.value, binding)
                if _starts_as_tensor(program, place, function, values) and _is_kept(program, keep, function, values):
                    yield Carried(function, keep, True)


def _changed(node: ast.expr) -> str:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        node = node.func.value
    return dotted(node)


def _starts_as_tensor(program: Program, place: str, function: Function, values: TensorValues) -> bool:
    own = program.names.class_of(function.class_name, function.source) if function.class_name else None
    first = own.methods.get("__init__") if own is not None else None
    bound = first.bound.get(place, []) if first is not None else []
    buffers = first.calls_of("register_buffer") if first is not None else []
    names = [getattr(each.args[0], "value", None) for each in buffers if each.args]
    made = any(isinstance(value, ast.Call) and dotted(value.func).startswith("torch.") for _, value in bound)
    return made or place.removeprefix("self.") in names


def _asks_for_gradients(function: Function) -> bool:
    return any(dotted(call.func).endswith("autograd.grad") for call in function.calls_of("grad"))


def _is_kept(program: Program, keep: Keep, function: Function, values: TensorValues, *, is_sum: bool = False) -> bool:
    in_function_alone = is_sum and not program.is_part_of_module(function)
    if is_without_graph(program, function, keep.node):
        return False
    if _is_set_anew(program, keep, function, in_function_alone=in_function_alone) and not (
        _is_retained(program) and _is_reset_between_steps_alone(program, keep, function)
    ):
        return False
    if values.kind(keep.value, function) is not Kind.GRAPH:
        return False
    if _is_retained(program):
        return True
    is_reset = in_function_alone and _is_set_anew(program, keep, function, in_function_alone=False)
    if is_reset and is_wanted(program, keep.place, function):
        return False  # as in a world that actions are trained through, episode by episode
    return not goes_backward_somewhere(program, keep, function)


@lru_cache(maxsize=1)
def _is_retained(program: Program) -> bool:
    """Whether a backward pass leaves the graph for another one: only so can a second one go through what is carried."""
    return any(_retains_graph(call) for each in program.functions for call in each.calls_of("backward"))


def _leads_to(value: ast.expr, place: str, program: Program, function: Function) -> bool:
    """Whether a value is computed from a place with its graph: named in it or in what its variables are bound to, or
    in what a method called in it gives."""
    if place.endswith((".keys", ".values")) and not place.startswith("self."):
        return False
    if "." in place and not _CACHE.search(place) and is_computed_from(value, place, function):
        return True
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Attribute, ast.Name)) and dotted(node) == place:
            return True
        if isinstance(node, ast.Name) and node is value and _is_given_what_leads_to(node.id, place, program, function):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if is_cutting(node):
                continue
            if name and dotted(node.func) == f"self.{name}":
                called = program.called_by(node, function)
                if (
                    called is not None
                    and called is not function
                    and any(each.value is not None and _names(each.value, place) for each in called.returns)
                ):
                    return True
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif not isinstance(node, (ast.Compare, ast.Lambda)):
            waiting += children(node)
    return False


def _is_given_what_leads_to(name: str, place: str, program: Program, function: Function) -> bool:
    """Whether a method of the same object hands over what it computes from the place: `self.carry(f(self.h))`."""
    if name not in function.parameters or not place.startswith("self.") or name in function.bound:
        return False
    return any(
        dotted(call.func).startswith("self.") and caller is not function and is_computed_from(given, place, caller)
        for caller, call in program.callers(function)
        for given in given_to(name, function, call)
    )


def _names(value: ast.expr, place: str) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in CUTTING:
        return False
    return any(dotted(node) == place for node in walk(value) if isinstance(node, ast.Attribute))


def _is_set_anew(program: Program, keep: Keep, function: Function, *, in_function_alone: bool) -> bool:
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


def _is_reset_between_steps_alone(program: Program, keep: Keep, function: Function) -> bool:
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


def _through_calls(program: Program, function: Function, values: TensorValues) -> Iterator[Carried]:
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
                if values.kind(_element(binding.value, place), function) is Kind.GRAPH and not _is_cut(
                    name, function, loop
                ):
                    yield Carried(function, keep, False)


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


def _beside_results(program: Program, function: Function, values: TensorValues) -> Iterator[Carried]:
    """`heard, cache = encoder(chunk, cache)` in a loop of a function that runs nothing backward and gives back, keeps
    and hands on nothing that has a graph: nobody ever wants the graph of all turns."""
    if program.is_part_of_module(function) or backward_roots(function) or not _is_known_to_run(program, function):
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
            if values.kind(element, function) is not Kind.GRAPH or _is_cut(name, function, loops[-1]):
                continue
            wanted = _wanted_of(program, function) if wanted is None else wanted
            if not wanted & {name, *_bound_places(binding)}:
                yield Carried(function, Keep("sum", name, binding.value, binding), False)


def _is_known_to_run(program: Program, function: Function) -> bool:
    """Whether the program itself runs a function, so that its callers' modes are known; tests and libraries do not."""
    return isinstance(function.node, ast.Module) or bool(program.callers(function)) or function.name == "main"


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
    return any(map(_retains_graph, calls))


def _retains_graph(call: ast.Call) -> bool:
    return any(each.arg == "retain_graph" and getattr(each.value, "value", None) is True for each in call.keywords)


def _is_cut(name: str, function: Function, loop: LoopNode) -> bool:
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
