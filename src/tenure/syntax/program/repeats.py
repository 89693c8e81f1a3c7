"""Which statements of a program run again and again: in loops, in what loops call, and in what torch or a framework
calls for every batch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from tenure.syntax.program.functions import Function
from tenure.syntax.program.hooked import functions_named, hooked_functions
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_EVENTS = re.compile(
    r"^(_?on_|after_|before_|begin_|end_)?(train|training|validation|val|test|predict|prediction|fit|eval|evaluation)?_?"
    r"((batch|step|epoch|iteration|iter|update|rollout|forward|backward|loss)(_?(start|end|begin|completed|started|s))?"
    r"|(?<=_)(start|end|begin))$"
)
"""What frameworks, and programs like them, call for each batch, step or epoch."""
_FILLING = re.compile(
    r"^_?(add|append|collect|extend|gather|insert|keep|log|note|observe|offer|push|put|record|register|remember|report"
    r"|save|see|store|submit|take|track|update|watch|write|accumulate|cache|visit|listen|hear)(_\w+)?$"
)
"""Methods whose name says that they are called for one thing after another."""
_TEXTS = re.compile(r"(\w+_)?(text|prompt|sentence|caption|question|query|word|phrase)s?")
_BY_ITSELF = ("forward", "__call__", "__missing__", "__setitem__", "__next__", "compute_loss", "eval_forward")
"""Methods that Python, torch, transformers and Composer call where something else is written."""
_MOST_CALLERS = 4


def is_known_to_run(program: Program, function: Function) -> bool:
    """Whether the program itself runs a function, so that its callers' modes are known; tests and libraries do not."""
    return isinstance(function.node, ast.Module) or bool(program.callers(function)) or function.name == "main"


def runs_repeatedly(program: Program, function: Function, node: ast.AST | None = None) -> bool:
    """Whether a statement of `function` runs again and again, as far as the text tells."""
    if node is not None and function.loops_around(getattr(node, "lineno", 0)):
        return True
    return _is_repeated(program, function, 0)


@lru_cache(maxsize=4096)
def _is_repeated(program: Program, function: Function, depth: int) -> bool:
    if isinstance(function.node, ast.Module):
        return False
    if function in hooked_functions(program) or function in _handlers(program) or _answers_requests(function):
        return True
    callers = [each for each in program.callers(function) if not is_of_tests(each[0]) or is_of_tests(function)]
    is_called = function.name == "__call__"
    if is_event(function) and not (is_called and callers):
        return True
    if any(caller.runs_each_turn(call) and not (is_called and _is_of_turn(caller, call)) for caller, call in callers):
        return True
    if any(program.applies_again(call) or _is_in_lambda_of_turn(caller, call) for caller, call in callers):
        return True
    if any(caller is function and _comes_again(program, call, function) for caller, call in callers):
        return True
    if any(
        depth < _MOST_CALLERS and caller is not function and _is_repeated(program, caller, depth + 1)
        for caller, _ in callers
    ):
        return True
    if not callers and _is_handed_out(program, function):
        return True
    return not callers and bool(function.class_name) and bool(_FILLING.match(function.name))


def _is_in_lambda_of_turn(caller: Function, call: ast.Call) -> bool:
    """Whether a call is the work of a lambda that a loop of the function calls by its name."""
    return any(
        any(node is call for node in walk(value)) and any(map(caller.runs_each_turn, caller.calls_of(name)))
        for name, values in caller.bound.items()
        for _, value in values
        if isinstance(value, ast.Lambda)
    )


_COUNTED = re.compile(r"(\w+_)?(step|iteration|iter|epoch|round|turn|episode|batch|attempt)(_\w+)?s?")


def _comes_again(program: Program, call: ast.Call, function: Function) -> bool:
    """Whether a function starts itself for its next step: by a timer, or with a counter one higher. One that goes down
    a tree does neither."""
    if program.is_application(call):
        return True
    sums = (each for each in call.args if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add))
    return any(isinstance(each.left, ast.Name) and bool(_COUNTED.fullmatch(each.left.id)) for each in sums)


_ROUTES = frozenset({"get", "post", "put", "patch", "route", "websocket", "api_route"})
_JOBS = frozenset({"task", "job", "scheduled_job", "consumer", "subscriber", "event"})


def _answers_requests(function: Function) -> bool:
    """Whether a framework calls a function for each request or message: `@app.post("/run")`, `@worker.task`."""
    for each in getattr(function.node, "decorator_list", ()):
        name = dotted(each.func) if isinstance(each, ast.Call) else dotted(each)
        owner, _, last = name.rpartition(".")
        if owner and last in _ROUTES and isinstance(each, ast.Call) and each.args:
            return True
        if owner and last in _JOBS and owner not in ("torch", "pytest"):
            return True
    return False


_HANDLED = ("ITERATION_", "GET_BATCH_", "EPOCH_", "BATCH_")


_WITH_ONE = frozenset({"step", "optimize", "subscribe", "do"})
"""Of those below: methods that other things have too, with other arguments."""
_CALLING_AGAIN = frozenset({"Engine", "Interface", "ChatInterface", "minimize", "fmin", "least_squares", *_WITH_ONE})
"""What calls the function that it is given first again and again: ignite, gradio, optimizers."""


@lru_cache(maxsize=1)
def _handlers(program: Program) -> frozenset[Function]:
    """Functions that ignite calls for each batch or epoch: `engine.add_event_handler(Events.EPOCH_COMPLETED, f)`, and
    those under `@engine.on(Events.ITERATION_COMPLETED(every=10))`; those that what calls them again is given."""
    found: set[Function] = set()
    for function in program.functions:
        for call in function.calls_of("add_event_handler"):
            if len(call.args) > 1 and _is_handled(call.args[0]):
                found.update(functions_named(program, call.args[1], function))
        for call in function.calls_of(*_CALLING_AGAIN):
            named = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("fn", "closure", "func"))]
            for each in named if len(call.args) == 1 or called_name(call) not in _WITH_ONE else ():
                if isinstance(each, (ast.Name, ast.Attribute)) and not program.called_by(call, function):
                    found.update(functions_named(program, each, function))
        for each in getattr(function.node, "decorator_list", ()):
            if isinstance(each, ast.Call) and called_name(each) == "on" and any(map(_is_handled, each.args)):
                found.add(function)
    return frozenset(found)


def _is_handled(event: ast.expr) -> bool:
    names = (node.attr for node in walk(event) if isinstance(node, ast.Attribute))
    return any(name.startswith(_HANDLED) for name in names)


def _is_of_turn(caller: Function, call: ast.Call) -> bool:
    """Whether each loop around a call goes through the objects that are called: stages, one after the other."""
    targets = [getattr(loop, "target", None) for loop in caller.loops_around(call.lineno)]
    name = dotted(call.func)
    return bool(targets) and all(isinstance(each, ast.Name) and each.id == name for each in targets)


def is_event(function: Function) -> bool:
    """Whether a method is what frameworks, and torch, call for each batch, step or epoch."""
    if function.name == "__getitem__":
        return bool(_TEXTS.fullmatch(function.parameters[-1]))  # data sets and tables of sizes have an end
    return bool(function.class_name) and bool(_EVENTS.match(function.name) or function.name in _BY_ITSELF)


def is_never_called(program: Program, function: Function) -> bool:
    """Whether a method is called by no name, object or statement of a program that makes objects of its class."""
    if not function.is_method or function.name.startswith("__") or is_event(function) or function.owner is None:
        return False
    is_called = any(caller is not function for caller, _ in program.callers(function))
    if is_called or not program.is_made(function.owner):
        return False
    if function.name in program.handed_on:
        return False
    return function.name not in program.calling or not any(_may_mean(program, function))


_OF_TENSORS = frozenset({"detach"})
"""Methods without arguments that are those of a tensor where nothing says whose they are."""


def _may_mean(program: Program, method: Function) -> Iterator[bool]:
    """Of each call of a method by its name whether it may be the one of this class, and not that of a handle which the
    method itself removes, nor one of a tensor."""
    assert method.owner is not None
    for caller in program.calling.get(method.name, ()):
        for call in caller.calls_of(method.name) if caller is not method else ():
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            classes = program.objects.classes_of(owner, caller) if owner is not None else []
            if classes:
                yield any(program.share_objects(each, method.owner) for each in classes)
            else:
                yield method.name not in _OF_TENSORS or owner is None or bool(call.args)


def is_of_tests(function: Function) -> bool:
    """Whether a function stands in a package's tests, which call again and again what programs call once."""
    return "test" in function.source.path.replace("\\", "/").rpartition("site-packages/")[2]


def _is_handed_out(program: Program, function: Function) -> bool:
    """Whether an inner function is what the one around it gives back: a decorator's wrapper."""
    outer = program.names.around(function)
    return outer is not None and any(
        isinstance(each.value, ast.Name) and each.value.id == function.name for each in outer.returns
    )
