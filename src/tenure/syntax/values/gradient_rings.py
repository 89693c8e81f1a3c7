"""Backward passes that store gradients with graphs, and what undoes the ring in the same function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from tenure.syntax.program.functions import Binding, Class, Function, is_in_body
from tenure.syntax.program.objects import Thing
from tenure.syntax.program.program import Program
from tenure.syntax.program.truths import may_be
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_MOST_STEPS = 3


def makes_graph(call: ast.Call) -> bool:
    """Whether a call says `create_graph=True`, as written."""
    by_place = call.args[2:3] if isinstance(call.func, ast.Attribute) and call.func.attr == "backward" else []
    given = [*by_place, *(each.value for each in call.keywords if each.arg == "create_graph")]
    return any(isinstance(each, ast.Constant) and each.value is True for each in given)


def may_make_graph(program: Program, call: ast.Call, function: Function) -> bool:
    """Whether a call may say `create_graph=True`: as written, by a flag, or by a dictionary of arguments."""
    if makes_graph(call):
        return True
    flags = [each.value for each in call.keywords if each.arg == "create_graph"]
    for each in call.keywords:
        if each.arg is None:
            flags += _at_create_graph(program, each.value, function)
    return any(may_be(True, each, function, program) for each in flags)


def _at_create_graph(program: Program, given: ast.expr, function: Function) -> list[ast.expr]:
    """What stands at this key of the dictionaries, as written, that an expression may be."""
    if isinstance(given, ast.Attribute):
        classes = program.objects.classes_of(given.value, function)
        bound = [value for cls in classes for value, _ in program.attribute_values(cls, given.attr)]
    else:
        name = dotted(given)
        top = program.names.top_with(name, function.source) if name else None
        bound = [value for _, value in function.bound.get(name) or (top.bound[name] if top is not None else [])]
    return [
        value
        for shown in map(_made_by_default, bound)
        if isinstance(shown, ast.Dict)
        for key, value in zip(shown.keys, shown.values, strict=True)
        if getattr(key, "value", None) == "create_graph"
    ]


def _made_by_default(value: ast.expr) -> ast.expr:
    """`{...}` of `field(default_factory=lambda: {...})`."""
    if isinstance(value, ast.Call) and called_name(value) == "field":
        factories = (each.value for each in value.keywords if each.arg == "default_factory")
        return next((each.body for each in factories if isinstance(each, ast.Lambda)), value)
    return value


def drops_gradients(program: Program, function: Function, backward: ast.Call | Binding) -> bool:
    """Whether the function sets gradients to None behind the call: by `zero_grad()`, or one by one."""
    later = (call for call in function.calls_of("zero_grad") if call.lineno > backward.lineno)
    by_call = not _reads_gradient_of_a_variable(function) and any(
        _forgets(call, "zero_grad") and not _is_of_others(program, call, function, function) for call in later
    )
    return by_call or any(each.lineno > backward.lineno for each in _set_to_none(function))


def _set_to_none(function: Function) -> Iterator[ast.Assign]:
    """`parameter.grad = None`."""
    for binding in function.bindings:
        targets = binding.targets if isinstance(binding, ast.Assign) else []
        is_none = isinstance(binding.value, ast.Constant) and binding.value.value is None
        if is_none and any(isinstance(each, ast.Attribute) and each.attr == "grad" for each in targets):
            assert isinstance(binding, ast.Assign)
            yield binding


def _dropping(function: Function) -> Iterator[ast.Call | ast.Assign]:
    """Statements by which a function sets gradients of parameters to None."""
    yield from (each for each in function.calls_of("zero_grad") if _forgets(each, "zero_grad"))
    yield from _set_to_none(function)


def callers_drop_gradients(program: Program, function: Function, depth: int = 0) -> bool:
    """Whether all that call a function, or call it back, set gradients to None right behind the call; not where these,
    or it, read gradients of other leaves than the parameters that they go through, nor where gradients are dropped of
    several modules, of which it may be another one."""
    if _reads_gradient_of_a_leaf(function) or len(_dropped_of(program)) > 1:
        return False
    calls, around = program.callers(function), program.names.around(function)
    if not calls and around is not None:  # a closure, which somebody is given
        calls = program.callers(around)
    return (
        bool(calls)
        and depth < _MOST_STEPS
        and all(
            (
                not _reads_gradient_of_a_leaf(caller)
                and any(
                    _is_behind(each, call, caller) and not _is_of_others(program, each, caller, function)
                    for each in _dropping(caller)
                )
            )
            or callers_drop_gradients(program, caller, depth + 1)
            for caller, call in calls
        )
    )


def _is_of_others(program: Program, dropping: ast.Call | ast.Assign, caller: Function, function: Function) -> bool:
    """Whether what is told to drop its gradients, a module or an optimizer, has none of the modules that a function
    calls, as far as all of them are known."""
    if not isinstance(dropping, ast.Call) or not isinstance(dropping.func, ast.Attribute):
        return False
    objects = program.objects
    used = {each for call in function.calls for each in objects.of(call.func, function) if each.is_made}
    told = dropping.func.value
    things = set(objects.of(told, caller))
    for owner, where in _optimized(program).get(dotted(told).rpartition(".")[2], ()) if not things else ():
        found = objects.of(owner, where)
        if not found:
            return False
        things |= found
    return bool(used and things) and used.isdisjoint(_with_parts(program, things))


@lru_cache(maxsize=1)
def _optimized(program: Program) -> dict[str, list[tuple[ast.expr, Function]]]:
    """Per last name of what is made with parameters the modules that these are of."""
    found: dict[str, list[tuple[ast.expr, Function]]] = {}
    for function in program.functions:
        for name, values in function.bound.items() if function.calls_of("parameters") else ():
            owners = [(owner, function) for _, value in values for owner in _asked_for_parameters(value)]
            if owners:
                found.setdefault(name.rpartition(".")[2], []).extend(owners)
    return found


def _asked_for_parameters(value: ast.expr) -> Iterator[ast.expr]:
    """`net` of `Adam(net.parameters())`."""
    for node in walk(value) if isinstance(value, ast.Call) else ():
        is_inside = isinstance(node, ast.Call) and node is not value and isinstance(node.func, ast.Attribute)
        if is_inside and node.func.attr == "parameters":  # type: ignore[attr-defined]
            yield node.func.value  # type: ignore[attr-defined]


def _with_parts(program: Program, things: set[Thing]) -> set[Thing]:
    """Modules with those in their attributes, and in theirs."""
    found, newest = set(things), set(things)
    for _ in range(_MOST_STEPS):
        names = [(each.cls, name) for each in newest if each.cls is not None for name in _attributes(each.cls)]
        newest = {thing for cls, name in names for thing in program.objects.attribute(cls, name)} - found
        found |= newest
    return found


def _attributes(cls: Class) -> set[str]:
    return {name[5:] for name in cls.values if name.count(".") == 1}


def _is_behind(later: ast.Call | ast.Assign, call: ast.Call, function: Function) -> bool:
    """Whether each turn that comes by one call comes by the other then."""
    loops = function.loops_around(call.lineno)
    if later.lineno <= call.lineno or (loops and not is_in_body(later.lineno, loops[-1])):
        return False
    return not any(
        isinstance(node, ast.If) and _spans(node, later) and not _spans(node, call) for node in walk(function.node)
    )


def _spans(node: ast.If, call: ast.Call | ast.Assign) -> bool:
    return node.lineno <= call.lineno <= (node.end_lineno or node.lineno)


@lru_cache(maxsize=1)
def _dropped_of(program: Program) -> frozenset[str]:
    """Last names of what a program calls `zero_grad()` of."""
    calls = (call for function in program.functions for call in function.calls_of("zero_grad"))
    receivers = (call.func.value for call in calls if isinstance(call.func, ast.Attribute))
    return frozenset(dotted(each).rpartition(".")[2] for each in receivers)


def _reads_gradient_of_a_leaf(function: Function) -> bool:
    return any(not _is_gone_through(node.value, function) for node in _gradients_read(function))


def forgets_gradients(function: Function) -> bool:
    """Whether a function sets the gradients of parameters to None by `zero_grad()`."""
    return any(_forgets(call, "zero_grad") for call in function.calls_of("zero_grad"))


def _reads_gradient_of_a_variable(function: Function) -> bool:
    """Whether the gradient that is wanted is one of a local leaf: `mixed.grad`; no module's `zero_grad` drops that."""
    leaves = {
        dotted(target)
        for binding in function.bindings
        if isinstance(binding, ast.Assign) and isinstance(binding.targets[0], ast.Name)
        for target in binding.targets
    }
    return any(isinstance(each.value, ast.Name) and each.value.id in leaves for each in _gradients_read(function))


def _gradients_read(function: Function) -> Iterator[ast.Attribute]:
    for node in walk(function.node):
        is_read = isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load)
        if is_read and dotted(node) not in ("torch.autograd.grad", "autograd.grad", "ag.grad"):
            yield node  # type: ignore[misc]


def _is_gone_through(node: ast.expr, function: Function) -> bool:
    """Whether it is the variable of a loop or a comprehension."""
    generators = (each for one in function.comprehensions for each in one.generators)
    names = {part.id for each in generators for part in walk(each.target) if isinstance(part, ast.Name)}
    return isinstance(node, ast.Name) and node.id in (names | function.loop_names)


def _forgets(call: ast.Call, method: str) -> bool:
    """`zero_grad()` sets to None unless it is told otherwise."""
    keeps = any(each.arg == "set_to_none" and getattr(each.value, "value", True) is False for each in call.keywords)
    return method == "zero_grad" and not keeps
