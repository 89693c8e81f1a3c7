"""Hooks of tensors that lead back to their tensor: a ring through autograd's C++ side, which no collection frees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.arguments import all_parameters
from tenure.syntax.program.functions import Function
from tenure.syntax.program.hooked import functions_named
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.leaves import is_leaf
from tenure.syntax.values.tensor_values import tensor_values
from tenure.syntax.values.without_graph import is_without_graph


@dataclass(frozen=True)
class HookRing:
    """`call` registers on `tensor` a hook that has it, or an object that has it."""

    function: Function
    call: ast.Call
    tensor: str


def find_hook_rings(program: Program) -> Iterator[HookRing]:
    """All of a program, of tensors that are computed: a leaf, as a parameter, lives on anyway. Costs a look at each
    `register_hook`."""
    for function in program.functions:
        for call in function.calls_of("register_hook"):
            name = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            leads_back = name and any(_leads_to(program, each, name, function) for each in call.args[:1])
            if leads_back and "[]" not in name and _is_computed(program, call, function):
                yield HookRing(function, call, name)


def _is_computed(program: Program, call: ast.Call, function: Function) -> bool:
    assert isinstance(call.func, ast.Attribute)
    tensor = call.func.value
    has_graph = tensor_values(program).kind(tensor, function) is Kind.GRAPH
    return has_graph and not is_leaf(program, tensor, function) and not is_without_graph(program, function, call)


def _leads_to(program: Program, hook: ast.expr, tensor: str, function: Function) -> bool:
    """Whether a hook closes over a tensor, is given it beforehand, or is of an object that the function gives it to."""
    if isinstance(hook, ast.Lambda):
        own = {each.arg for each in hook.args.args}
        defaults = [*hook.args.defaults, *(each for each in hook.args.kw_defaults if each is not None)]
        return _names(hook.body, tensor, own) or any(_names(each, tensor, set()) for each in defaults)
    if isinstance(hook, ast.Call) and called_name(hook) == "partial":
        given = [*hook.args[1:], *(each.value for each in hook.keywords)]
        return any(_is(each, tensor) for each in given) or _leads_to(program, hook.args[0], tensor, function)
    if isinstance(hook, ast.Attribute) and dotted(hook.value) == "self":
        return _is_kept_by_self(tensor, function)
    return any(_closes_over(each, tensor, function) for each in functions_named(program, hook, function))


def _closes_over(hook: Function, tensor: str, function: Function) -> bool:
    """Whether an inner function reads the tensor, or the object of the method around, which has it."""
    if isinstance(hook.node, ast.Module) or "<locals>" not in hook.qualname:
        return False
    own = {*all_parameters(hook), *hook.bound}
    is_inside = hook.qualname.startswith(f"{function.qualname}.<locals>.")
    if is_inside and any(_names(each, tensor, own) for each in hook.node.body):
        return True
    same_object = hook.owner is not None and hook.owner is function.owner and "self" not in own
    return same_object and _names_self(hook.node) and _is_kept_by_self(tensor, function)


def _names(node: ast.AST, name: str, own: set[str]) -> bool:
    return name.partition(".")[0] not in own and any(_is(each, name) for each in walk(node))


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and dotted(node) == name


def _names_self(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "self" for each in walk(node))


def _is_kept_by_self(tensor: str, function: Function) -> bool:
    """Whether the function stores a tensor as it is in an attribute of its object, or in a container there; not where
    the program sets this attribute to something else elsewhere in the class."""
    if tensor.startswith("self."):
        return True
    bound = [(name, value) for name, values in function.bound.items() for _, value in values]
    bound += [(name, value) for name, values in function.contents.items() for value in values]
    places = {name for name, value in bound if name.startswith("self.") and dotted(value) == tensor}
    return any(not _is_let_go(each, function) for each in places)


def _is_let_go(place: str, function: Function) -> bool:
    others = [each for each in function.owner.functions if each is not function] if function.owner is not None else []
    others = [each for each in others if each.name != "__init__"]
    return any(place in each.bound for each in others) or any(
        isinstance(call.func, ast.Attribute) and dotted(call.func.value) == place
        for each in others
        for call in each.calls_of("clear", "pop", "popitem", "remove")
    )
