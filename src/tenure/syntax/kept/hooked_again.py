"""Whether a statement registers hooks on the same module again and again, and not on one module after another."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tenure.syntax.kept.kept_graphs import read_by
from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function, is_in_body, targets_of
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_event, is_of_tests, runs_repeatedly
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import LoopNode, dotted
from tenure.syntax.text.value_parts import bound_names

_MOST_STEPS = 4
_TRAINING = ("backward", "zero_grad", "manual_backward")
_MAKING = re.compile(r"[A-Z]\w*|_*(make|create|build|load|init|new|deepcopy|copy|clone|from)(_\w+)?")
_ACCESS = frozenset(
    {"list", "dict", "tuple", "set", "enumerate", "reversed", "zip", "sorted", "getattr", "next", "iter"}
)


def is_hooked_again(program: Program, function: Function, call: ast.Call) -> bool:
    """Whether `call`, which registers a hook, comes back to a module that it has hooked before: in a loop that neither
    makes nor chooses the module, here or where the function is called or its object is made."""
    registered = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    hooks = [*call.args, *(each.value for each in call.keywords)]
    if called_name(call).startswith("register_module_"):  # of all modules
        return runs_repeatedly(program, function, call)
    return _comes_back(program, function, registered, hooks, call, 0)


def _comes_back(
    program: Program, function: Function, module: ast.expr, chosen: Sequence[ast.expr], call: ast.Call, steps: int
) -> bool:
    """Whether `module` is the same when `call` runs again; `chosen` says what else differs from module to module."""
    if isinstance(module, ast.Call) and not _root(module):  # an object made there, around what it is given
        given = [*module.args, *(each.value for each in module.keywords)]
        return any(_comes_back(program, function, each, chosen, call, steps) for each in given if _root(each))
    names = read_by([module], function)
    differing = names | read_by(chosen, function)
    made_at = _made_at(names, function)
    for loop in reversed(function.loops_around(call.lineno)):
        targets = set() if isinstance(loop, ast.While) else set(bound_names(loop.target))
        if targets & names or (targets & differing and not _only_counts(loop) and not _trains(program, loop, function)):
            continue
        made = [value for line, value in made_at if is_in_body(line, loop)]
        if made:
            return _is_made_with_the_same(program, function, made, call, steps)
        return True
    for gone_through in function.turned_by(call):
        if not gone_through & differing:
            return True
    if any(isinstance(each, ast.Call) for _, each in made_at) or steps > _MOST_STEPS:
        return False
    return _comes_back_from_callers(program, function, module, differing, steps)


def _comes_back_from_callers(
    program: Program, function: Function, module: ast.expr, differing: set[str], steps: int
) -> bool:
    if is_event(function):
        return True
    callers = [*program.callers(function)]
    if function.name in ("__init__", "__post_init__") and function.owner is not None:
        callers = program.constructions_by(function)
    callers = [each for each in callers if not is_of_tests(each[0]) or is_of_tests(function)]
    parameter = _parameter_behind(_root(module), function, 0)
    if not callers:
        return not steps and not parameter and function.name in program.handed_on
    others = [name for name in function.parameters[int(function.is_method) :] if name in differing]
    for caller, call in callers:
        if caller is function:
            continue
        further = [value for name in others for value in given_to(name, function, call)]
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        given = list(given_to(parameter, function, call)) if parameter else [owner] if owner is not None else []
        if not given and caller.loops_around(call.lineno) and not further:
            return True
        if any(each is not None and _comes_back(program, caller, each, further, call, steps + 1) for each in given):
            return True
    return False


def _is_made_with_the_same(
    program: Program, function: Function, made: Sequence[ast.expr], call: ast.Call, steps: int
) -> bool:
    """Whether a turn makes, around a module that was there, the object whose method registers the hook."""
    calls = [
        each for each in made if isinstance(each, ast.Call) and program.names.class_of(called_name(each)) is not None
    ]
    given = [value for each in calls for value in (*each.args, *(keyword.value for keyword in each.keywords))]
    return (
        steps > 0
        and steps <= _MOST_STEPS
        and any(_root(value) and _comes_back(program, function, value, (), call, steps + 1) for value in given)
    )


def _only_counts(loop: LoopNode) -> bool:
    """`for epoch in range(epochs)`: what differs is a number, not the module and not a name of one."""
    return (
        isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and called_name(loop.iter) in ("range", "count")
    )


def _trains(program: Program, loop: LoopNode, function: Function) -> bool:
    """Whether each turn runs backward or steps, itself or in a function that it calls: what differs is a batch or a
    task."""
    if any(is_in_body(call.lineno, loop) for call in function.calls_of(*_TRAINING)):
        return True
    called = (program.called_by(each, function) for each in function.calls if is_in_body(each.lineno, loop))
    return any(each is not None and bool(each.calls_of(*_TRAINING)) for each in called)


def _made_at(names: set[str], function: Function) -> list[tuple[int, ast.expr]]:
    """Where variables and attributes of these names get a new object, with what makes it."""
    return [
        (binding.lineno, binding.value)
        for binding in function.bindings
        if binding.value is not None and not _root(binding.value) and names & _names(binding)
    ]


def _names(binding: ast.stmt | ast.NamedExpr) -> set[str]:
    return {name for target in targets_of(binding) for name in bound_names(target)}  # type: ignore[arg-type]


def _parameter_behind(name: str, function: Function, steps: int) -> str:
    """The parameter that a variable, a loop's or an attribute comes from; "" where it is none."""
    if name in function.parameters[int(function.is_method) :]:
        return name
    if not name or steps > _MOST_STEPS:
        return ""
    for value in (*(value for _, value in function.bound.get(name, ())), *_gone_through(name, function)):
        found = _parameter_behind(_root(value), function, steps + 1)
        if found:
            return found
    return ""


def _gone_through(name: str, function: Function) -> list[ast.expr]:
    """What comprehensions go through by a name."""
    generators = (each for one in function.comprehensions for each in one.generators)
    return [each.iter for each in generators if name in bound_names(each.target)]


def _root(node: ast.expr | None) -> str:
    """`model` of `model.layers[0]` and `dict(model.named_modules())`, `self.model` of `self.model.head`; "" of what is
    made there."""
    while node is not None:
        if isinstance(node, (ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, (ast.List, ast.Tuple)):
            node = node.elts[0] if node.elts else None
        elif isinstance(node, ast.Call):
            node = _asked(node)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            node = node.generators[0].iter
        elif isinstance(node, ast.Attribute) and dotted(node.value) != "self":
            node = node.value
        else:
            return dotted(node)
    return ""


def _asked(call: ast.Call) -> ast.expr | None:
    """What a call takes its result from; None where it makes something new."""
    name = called_name(call)
    if isinstance(call.func, ast.Attribute) and not _MAKING.fullmatch(name):
        return call.func.value if name not in _ACCESS else call.args[0] if call.args else None
    return call.args[0] if call.args and not _MAKING.fullmatch(name) else None
