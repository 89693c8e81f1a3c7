"""Where autograd records nothing: under `torch.no_grad()` and its kin, and in functions only called from there."""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_MODES = ("no_grad", "inference_mode")
_HOOKS_WITHOUT = frozenset(
    {"validation_step", "test_step", "predict_step", "prediction_step", "compute_metrics", "evaluation_loop"}
)
"""Methods that trainers of frameworks call with autograd off."""
_MOST_CALLERS = 4
"""So far up the calls are followed."""


def is_without_graph(program: Program, function: Function, node: ast.AST, *, depth: int = 0) -> bool:
    """Whether no graph is recorded where `node` of `function` runs, as far as the text tells."""
    return _in_region(program, function, node) or is_always_without_graph(program, function, depth=depth)


def runs_without_graph(program: Program, call: ast.Call, function: Function) -> bool:
    """Whether what is called is a module of the program whose own `forward` switches autograd off."""
    classes = program.objects.classes_of(call.func, function)
    forwards = [program.method_of(each, "forward") for each in classes]
    return bool(forwards) and all(
        each is not None and any(map(_switches_off, getattr(each.node, "decorator_list", ()))) for each in forwards
    )


def is_always_without_graph(program: Program, function: Function, *, depth: int = 0) -> bool:
    """Whether a function runs with autograd off each time: by its decorator, its framework, or all of its callers."""
    if isinstance(function.node, ast.Module):
        return False
    if any(_switches_off(each) for each in function.node.decorator_list):
        return True
    if function.is_method and (function.name in _HOOKS_WITHOUT or _is_of_metric(program, function)):
        return True
    callers = program.callers(function)
    if not callers and function.name == "forward" and not _runs_backward(program):
        callers = program.forward_calls(function)
    return (
        depth < _MOST_CALLERS
        and bool(callers)
        and all(is_without_graph(program, caller, call, depth=depth + 1) for caller, call in callers)
    )


@lru_cache(maxsize=1)
def _runs_backward(program: Program) -> bool:
    return any(each.calls_of("backward", "manual_backward") for each in program.functions)


def _is_of_metric(program: Program, function: Function) -> bool:
    """`update` and `compute` of a torchmetrics `Metric`, which wraps both."""
    if function.name not in ("update", "compute"):
        return False
    name, seen = function.class_name, set[str]()
    while name and name not in seen:
        seen.add(name)
        known = program.names.class_of(name, function.source)
        bases = [base.rpartition(".")[2] for base in known.bases] if known is not None else []
        if any(base == "Metric" for base in bases):
            return True
        name = bases[0] if bases else ""
    return False


def _in_region(program: Program, function: Function, node: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return any(
        each.body[0].lineno <= line <= (each.end_lineno or line)
        and any(_is_region(program, function, item.context_expr) for item in each.items)
        for each in function.withs
    ) or _is_switched_off_before(function, line)


def _is_region(program: Program, function: Function, context: ast.expr) -> bool:
    """`with torch.no_grad()`, or with a context manager of the program that yields under it."""
    if _switches_off(context):
        return True
    manager = program.called_by(context, function) if isinstance(context, ast.Call) else None
    return manager is not None and any(
        any(isinstance(each, ast.Yield) for each in walk(region))
        for region in manager.withs
        if any(_switches_off(item.context_expr) for item in region.items)
    )


def _is_switched_off_before(function: Function, line: int) -> bool:
    """`torch.set_grad_enabled(False)` as a statement of its own, until it is set otherwise."""
    found = [
        call
        for call in function.calls_of("set_grad_enabled", "_set_grad_enabled")
        if dotted(call.func) and call.lineno < line
    ]
    inside = {id(item.context_expr) for each in function.withs for item in each.items}
    found = [call for call in found if id(call) not in inside]
    return bool(found) and _switches_off(max(found, key=lambda call: call.lineno))


def _switches_off(node: ast.expr) -> bool:
    """`torch.no_grad()`, `@torch.inference_mode`, `torch.set_grad_enabled(False)`."""
    call = node if isinstance(node, ast.Call) else None
    name = dotted(call.func if call is not None else node).rpartition(".")[2]
    first = call.args[0] if call is not None and call.args else None
    if name in _MODES:
        return not (isinstance(first, ast.Constant) and first.value is False)
    return name == "set_grad_enabled" and isinstance(first, ast.Constant) and first.value is False
