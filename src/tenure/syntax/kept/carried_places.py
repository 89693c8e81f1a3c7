"""Attributes, elements and sums that a function computes from what they were; each with whether it adds figures up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from tenure.syntax.kept.carried_variables import retains_graph
from tenure.syntax.kept.carry_ended import is_cut, is_reset_between_steps_alone, is_set_anew
from tenure.syntax.kept.kept_graphs import goes_backward_somewhere
from tenure.syntax.kept.leading_to import CACHE_NAMES, leads_to
from tenure.syntax.kept.sums_by_calls import summed_by_calls, summed_of_sent
from tenure.syntax.kept.wanted_graphs import is_wanted
from tenure.syntax.program.functions import Binding, Function, targets_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.text.value_parts import bound_to
from tenure.syntax.values.graph_values import is_loss_name, is_module_name
from tenure.syntax.values.tensor_values import TensorValues
from tenure.syntax.values.without_graph import is_without_graph

_ADDING = frozenset(
    {"add_", "lerp_", "copy_", "index_add_", "index_copy_", "addcmul_", "baddbmm_", "addmm_", "scatter_add_"}
)
_FIGURES = re.compile(r"(^|_)(total|sum|mean|avg|average|running|ema|smooth|smoothed|metric|score|value|level)s?($|_)")


def carried_by_binding(program: Program, function: Function, values: TensorValues) -> Iterator[tuple[Keep, bool]]:
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
                and leads_to(value, place, program, function)
            )
            if (adds and not is_display) or carries_on:
                is_sum = adds or isinstance(value, ast.BinOp)
                keep = Keep("sum", place, value, binding)
                if _is_kept(program, keep, function, values, is_sum=is_sum):
                    yield keep, is_sum and _adds_figures(keep)
    for keep in summed_by_calls(function):
        if _is_kept(program, keep, function, values, is_sum=True):
            yield keep, True
    for keep in summed_of_sent(function):
        is_graph = values.kind(keep.value, function) is Kind.GRAPH
        if is_graph and not is_cut(keep.place, function, function.loops_around(keep.node.lineno)[-1]):
            yield keep, _adds_figures(keep)


def _is_in_global(program: Program, place: str, binding: Binding, function: Function) -> bool:
    """Whether what is bound is an element of a variable of the file: `_running["mean"] = ...`."""
    is_element = any(isinstance(each, ast.Subscript) for each in targets_of(binding))
    own = place in function.bound or place in function.parameters
    return is_element and not own and program.names.top_with(place, function.source) is not None


def _is_cut_from(value: ast.expr, place: str) -> bool:
    """`self.rows = self.rows[-limit:]`: less of what is there, and nothing computed."""
    return isinstance(value, ast.Subscript) and dotted(value.value) == place


def _is_cache_entry(binding: Binding) -> bool:
    """Whether an element is bound whose key says that it is what a generation keeps: `self.context["cache"] = ...`."""
    keys = [getattr(each.slice, "value", None) for each in targets_of(binding) if isinstance(each, ast.Subscript)]
    return any(isinstance(key, str) and CACHE_NAMES.search(key) for key in keys)


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


def carried_in_place(program: Program, function: Function, values: TensorValues) -> Iterator[tuple[Keep, bool]]:
    """`self.mean.mul_(0.9).add_(0.1 * loss)` and `self.scores[index] = scores`: the tensor stays, its graph grows."""
    for call in function.calls_of(*_ADDING):
        if isinstance(call.func, ast.Attribute):
            place = _changed(call.func.value)
            given = [*call.args, *(each.value for each in call.keywords)]
            for value in given if place.startswith("self.") else ():
                keep = Keep("sum", place, value, call)
                if values.kind(value, function) is Kind.GRAPH and _is_kept(program, keep, function, values):
                    yield keep, True
    for binding in function.bindings:
        for target in targets_of(binding):
            place = dotted(target).replace("[]", "")
            if isinstance(target, ast.Subscript) and place.startswith("self.") and binding.value is not None:
                keep = Keep("sum", place, binding.value, binding)
                if _starts_as_tensor(program, place, function, values) and _is_kept(program, keep, function, values):
                    yield keep, True


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


def _is_kept(program: Program, keep: Keep, function: Function, values: TensorValues, *, is_sum: bool = False) -> bool:
    in_function_alone = is_sum and not program.is_part_of_module(function)
    if is_without_graph(program, function, keep.node):
        return False
    if is_set_anew(program, keep, function, in_function_alone=in_function_alone) and not (
        _is_retained(program) and is_reset_between_steps_alone(program, keep, function)
    ):
        return False
    if values.kind(keep.value, function) is not Kind.GRAPH:
        return False
    if _is_retained(program):
        return True
    is_reset = in_function_alone and is_set_anew(program, keep, function, in_function_alone=False)
    if is_reset and is_wanted(program, keep.place, function):
        return False  # as in a world that actions are trained through, episode by episode
    return not goes_backward_somewhere(program, keep, function)


@lru_cache(maxsize=1)
def _is_retained(program: Program) -> bool:
    """Whether a backward pass leaves the graph for another one: only so can a second one go through what is carried."""
    return any(retains_graph(call) for each in program.functions for call in each.calls_of("backward"))
