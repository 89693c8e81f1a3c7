"""Functions that torch itself calls: hooks of modules and of autograd, with what it gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import dotted

_FORWARD = frozenset({"register_forward_hook", "register_module_forward_hook"})
_WITHOUT_GRAPH = frozenset(
    {"register_full_backward_hook", "register_full_backward_pre_hook", "register_hook", "saved_tensors_hooks"}
    | {"register_forward_pre_hook", "register_backward_hook", "register_post_accumulate_grad_hook"}
)


@lru_cache(maxsize=1)
def hooked_functions(program: Program) -> Mapping[Function, Kind]:
    """Functions that are registered somewhere, each with what its arguments are."""
    found: dict[Function, Kind] = {}
    for function in program.functions:
        for call in function.calls_of(*_FORWARD, *_WITHOUT_GRAPH):
            kind = Kind.GRAPH if called_name(call) in _FORWARD else Kind.TENSOR
            for each in call.args:
                for hook in functions_named(program, each, function):
                    found[hook] = max(kind, found.get(hook, Kind.NOTHING))
    return found


def functions_named(program: Program, node: ast.expr, function: Function) -> Iterator[Function]:
    """Functions of the program that an expression may mean: by name, `partial`, what a call of the program's own
    gives back, or the objects that it may be."""
    named = list(_by_name(program, node, function))
    yield from named or (each for each, _ in program.objects.run_by(node, function))


def _by_name(program: Program, node: ast.expr, function: Function) -> Iterator[Function]:
    if isinstance(node, ast.Name):
        if node.id == "self":
            yield from program.methods_named(function.class_name, "__call__", function.source)
        elif (named := program.seen_from(node.id, function)) is not None:
            yield named
    elif isinstance(node, ast.Attribute) and dotted(node.value) == "self":
        yield from program.methods_named(function.class_name, node.attr, function.source)
    elif isinstance(node, ast.Call) and called_name(node) == "partial" and node.args:
        yield from functions_named(program, node.args[0], function)
    elif isinstance(node, ast.Call) and (maker := program.called_by(node, function)) is not None:
        for each in maker.returns:
            if isinstance(each.value, ast.Name):
                yield from functions_named(program, each.value, maker)
