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
from tenure.syntax.text.tree_walks import walk

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


def lambda_hook_around(node: ast.AST, function: Function) -> ast.Call | None:
    """The call that registers as a hook the lambda in which a call or a name of a function stands."""
    line = getattr(node, "lineno", 0)
    for call in function.calls_of(*_FORWARD, *_WITHOUT_GRAPH):
        if call.lineno <= line <= (call.end_lineno or call.lineno):
            hooks = (each for each in call.args if isinstance(each, ast.Lambda))
            if any(part is node for each in hooks for part in walk(each.body)):
                return call
    return None


def lambda_hook_arguments(function: Function, line: int) -> dict[str, Kind]:
    """What torch gives to lambdas that a line registers as hooks, by the names of their parameters; no modules."""
    found: dict[str, Kind] = {}
    for call in function.calls_of(*_FORWARD, *_WITHOUT_GRAPH):
        if call.lineno <= line <= (call.end_lineno or call.lineno):
            kind = Kind.GRAPH if called_name(call) in _FORWARD else Kind.TENSOR
            first = int(called_name(call) not in ("register_hook", "register_post_accumulate_grad_hook"))
            for each in call.args:
                if isinstance(each, ast.Lambda):
                    found |= {parameter.arg: kind for parameter in each.args.args[first:]}
                    rest = each.args.vararg
                    found |= {rest.arg: kind} if rest is not None else {}
    return found


def tuples_given(program: Program, function: Function, line: int) -> frozenset[str]:
    """Parameters of a hook, or of a lambda that a line registers as one, that torch gives tuples: inputs of a module,
    and gradients of its inputs and outputs."""
    passed = hooked_functions(program).get(function)
    found = _tuples(function.parameters[int(function.is_method) :], passed) if passed is not None else frozenset()
    for call in function.calls_of(*_FORWARD, *_WITHOUT_GRAPH):
        if call.lineno <= line <= (call.end_lineno or call.lineno):
            kind = Kind.GRAPH if called_name(call) in _FORWARD else Kind.TENSOR
            hooks = (each for each in call.args if isinstance(each, ast.Lambda))
            for each in hooks:
                found |= _tuples(tuple(parameter.arg for parameter in each.args.args), kind)
    return found


def _tuples(names: tuple[str, ...], kind: Kind) -> frozenset[str]:
    return frozenset(names[1:-1] if kind is Kind.GRAPH else names[1:])


def functions_named(program: Program, node: ast.expr, function: Function) -> Iterator[Function]:
    """Functions of the program that an expression may mean: by name, `partial`, what a call of the program's own
    gives back, or the objects that it may be."""
    named = list(_by_name(program, node, function))
    yield from named or (each for each, _ in program.objects.run_by(node, function))


def _by_name(program: Program, node: ast.expr, function: Function) -> Iterator[Function]:
    if isinstance(node, ast.Name):
        if node.id == "self":
            yield from program.methods_named(function.class_name, "__call__", function.source)
        elif (named := program.names.seen_from(node.id, function)) is not None:
            yield named
    elif isinstance(node, ast.Attribute) and dotted(node.value) == "self":
        yield from program.methods_named(function.class_name, node.attr, function.source)
    elif isinstance(node, ast.Call) and called_name(node) == "partial" and node.args:
        yield from functions_named(program, node.args[0], function)
    elif isinstance(node, ast.Call) and (maker := program.called_by(node, function)) is not None:
        for each in maker.returns:
            if isinstance(each.value, ast.Name):
                yield from functions_named(program, each.value, maker)
