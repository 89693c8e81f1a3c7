"""Exceptions that a program stores, and with them the frames that they went through."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tenure.model.source import SourceFile
from tenure.syntax.program.arguments import all_parameters, given_to
from tenure.syntax.program.functions import Binding, Function, targets_of
from tenure.syntax.program.hooked import functions_named
from tenure.syntax.program.keeping import keeps_of
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.questions import Questions
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.text.value_parts import bound_names, bound_to, is_made_up

_EXITS = ("__exit__", "__aexit__")
_INTERPRETERS = ("InteractiveInterpreter", "InteractiveConsole")
_MOST_CALLERS = 12
_DEEPEST = 12
_MOST_STEPS = 3


@dataclass(frozen=True)
class KeptError:
    """`statement` of `function` keeps the exception that is `name` there, in `place`."""

    function: Function
    statement: ast.expr | ast.stmt
    name: str
    place: str


def find_kept_errors(program: Program) -> Iterator[KeptError]:
    """All of a program. Costs a walk over its statements where any `except` block or `__exit__` names an exception."""
    yield from _kept_by_interpreter(program)
    errors = _Errors(program)
    if not errors.are_caught:
        return
    for function in program.functions:
        is_first = function.name in INITIALISERS - {"__enter__"}
        if not is_first:
            yield from _bound(errors, function)
        if not is_first or _is_of_error(program, function):
            yield from _collected(errors, function)


def _bound(errors: _Errors, function: Function) -> Iterator[KeptError]:
    for binding in function.bindings:
        if binding.value is None:
            continue
        for place, value in _places(binding):
            name = errors.name_in(value, function)
            if not name:
                continue
            of_others = place.endswith("[]") and errors.lives_on(place.removesuffix("[]"), binding, function)
            if of_others or _outlives(place, binding, function, name):
                yield KeptError(function, binding, name, place)
                break


def _collected(errors: _Errors, function: Function) -> Iterator[KeptError]:
    for keep in keeps_of(function):
        if keep.kind == "element" and not isinstance(keep.node, ast.Assign):
            name = errors.name_in(keep.value, function)
            if name and ("." in keep.place or errors.lives_on(keep.place, keep.node, function)):
                yield KeptError(function, keep.node, name, keep.place)


def _kept_by_interpreter(program: Program) -> Iterator[KeptError]:
    """Where `code.InteractiveInterpreter` runs source: it sets `sys.last_value` for each cell that fails."""
    if any(each.attr.startswith("last_") for each in _set_on_sys(program)):
        return
    for function in program.functions:
        for call in function.calls_of("runcode", "runsource"):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            if owner is not None and _is_interpreter(program, owner, function):
                yield KeptError(function, call, "what a cell raises", "sys.last_value")


def _set_on_sys(program: Program) -> Iterator[ast.Attribute]:
    for function in program.functions:
        for node in [target for each in function.bindings for target in targets_of(each)]:
            if isinstance(node, ast.Attribute) and dotted(node.value) == "sys":
                yield node
        for delete in function.deletes:
            yield from (each for each in delete.targets if isinstance(each, ast.Attribute))


def _is_interpreter(program: Program, owner: ast.expr, function: Function) -> bool:
    name = dotted(owner)
    if name == "self" and function.owner is not None:
        return any(base.rpartition(".")[2] in _INTERPRETERS for base in function.owner.bases)
    own = function.owner.functions if function.owner is not None else [function]
    bound = [value for each in own for _, value in each.bound.get(name, ())]
    return any(isinstance(each, ast.Call) and called_name(each) in _INTERPRETERS for each in bound)


def _places(binding: Binding) -> Iterator[tuple[str, ast.expr]]:
    """What a statement binds, each with its own part of the value."""
    assert binding.value is not None
    for target in targets_of(binding):
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from bound_to(target, binding.value)
        else:
            yield dotted(target), binding.value


class _Errors:
    """Which values are, or hold, an exception with its traceback."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._questions: Questions[str] = Questions("", _DEEPEST)

    @cached_property
    def are_caught(self) -> bool:
        """Whether the program has any to keep."""
        caught = any(each.handlers or each.name in _EXITS for each in self._program.functions)
        return caught or self._asks_futures or any(each.calls_of("gather") for each in self._program.functions)

    @cached_property
    def _logs_errors(self) -> bool:
        """Whether log records may hold exceptions: `log.exception(...)`, `log.warning(..., exc_info=True)`."""
        return any(
            call
            for each in self._program.functions
            for call in each.calls
            if any(keyword.arg == "exc_info" for keyword in call.keywords)
            or (called_name(call) == "exception" and call.args and each.handlers)
        )

    @cached_property
    def _asks_futures(self) -> bool:
        """Whether the program asks futures for their exceptions."""
        return any(each.calls_of("exception") for each in self._program.functions)

    @cached_property
    def _called_with_futures(self) -> frozenset[Function]:
        """What is called with a future once it is done."""
        return frozenset(
            each
            for function in self._program.functions
            for call in function.calls_of("add_done_callback")
            if call.args
            for each in functions_named(self._program, call.args[0], function)
        )

    def name_in(self, value: ast.expr, function: Function) -> str:
        """What an exception is called that a value is, or is made with; "" where it holds none. Its text is none."""
        if isinstance(value, ast.Name):
            key = (function, value.id, value.lineno)
            return self._questions.answer(key, self._of_name, value.id, value.lineno, function)
        if isinstance(value, ast.Attribute):
            return self.name_in(value.value, function) if value.attr == "__traceback__" else ""
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            return self._first(value.elts, function)
        if isinstance(value, ast.Dict):
            return self._first(value.values, function)
        if isinstance(value, ast.BoolOp):
            return self._first(value.values, function)
        if isinstance(value, ast.IfExp):
            return self._first([value.body, value.orelse], function)
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call) and is_made_up(value):
            return self._of_element(value.value, value.slice, function)
        if isinstance(value, (ast.Await, ast.NamedExpr)):
            return self.name_in(value.value, function)
        if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self._of_comprehension(value, function)
        return self._of_call(value, function) if isinstance(value, ast.Call) else ""

    def _of_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, function: Function) -> str:
        """Of what it goes through where its element, or a part of that, is one of these."""
        parts = node.elt.elts if isinstance(node.elt, (ast.Tuple, ast.List)) else [node.elt]
        names = {each.id for each in parts if isinstance(each, ast.Name)}
        gone_through = [each.iter for each in node.generators if names & set(bound_names(each.target))]
        return self._first(gone_through, function)

    def _first(self, values: list[ast.expr], function: Function) -> str:
        return next((name for each in values if (name := self.name_in(each, function))), "")

    def _of_call(self, call: ast.Call, function: Function) -> str:
        made = called_name(call)
        if dotted(call.func) in ("sys.exc_info", "sys.exception"):
            return "the exception"
        if made == "gather" and _gives_errors_back(call):
            return "what a task raised"
        if made == "exception" and isinstance(call.func, ast.Attribute) and not call.args:
            return "what a future failed with"
        if made == "submit" and isinstance(call.func, ast.Attribute) and self._asks_futures:
            return "a future with its exception"
        given = [*call.args, *(each.value for each in call.keywords)]
        called = self._program.called_by(call, function)
        if called is not None and called.name != "__init__":
            values = [each.value for each in (*called.returns, *called.yields) if each.value is not None]
            return self._questions.answer((called, "returned"), self._first, values, called)
        own = self._program.names.class_of(made, function.source)
        first = self._program.method_of(own, "__init__") if own is not None else None
        if first is not None:
            given = [each for name in first.parameters if _stores(first, name) for each in given_to(name, first, call)]
        is_class = made.lstrip("_")[:1].isupper() or own is not None
        return self._first(given, function) if is_class or made in ("partial", "list", "tuple", "dict") else ""

    def _of_element(self, call: ast.Call, place: ast.expr, function: Function) -> str:
        """Of one of several values that a function of the program gives back: `result, error = attempt()`."""
        if dotted(call.func) == "sys.exc_info":
            return "the exception" if getattr(place, "value", 0) else ""
        called = self._program.called_by(call, function)
        at = place.value if isinstance(place, ast.Constant) and isinstance(place.value, int) else -1
        rows = [each.value.elts for each in called.returns if isinstance(each.value, ast.Tuple)] if called else []
        values = [row[at] for row in rows if 0 <= at < len(row)]
        return self._questions.answer((called, at), self._first, values, called) if called is not None else ""

    def _of_name(self, name: str, line: int, function: Function) -> str:
        for handler in function.handlers:
            if handler.name == name and handler.lineno <= line <= (handler.end_lineno or line):
                return "" if _is_stripped(handler, function.source) or _is_of_import(handler) else name
        if name == "self" and function.name == "__init__" and _is_of_error(self._program, function):
            return "itself, once it is raised,"
        if function.name in _EXITS and name in function.parameters[-2:]:
            return "" if _is_stripped(function.node, function.source) else name
        failed = [call for call in function.calls_of("set_exception") if call.args and _is_of(call, name)]
        if failed:
            return self.name_in(failed[0].args[0], function)
        values = [value for _, value in function.bound.get(name, ())]
        if values:
            return self._first([each for each in values if _is_caught_there(each, function)], function)
        if name not in function.parameters or (function.is_method and name == function.parameters[0]):
            return ""
        if self._asks_futures and function in self._called_with_futures:
            return "a future with its exception"
        if function.name == "emit" and self._logs_errors and _is_log_handler(function):
            return name
        if _is_stripped(function.node, function.source):
            return ""
        calls = self._program.callers(function)
        for caller, call in calls if len(calls) <= _MOST_CALLERS else ():
            if self._first(list(given_to(name, function, call)), caller):
                return name
        return ""

    def lives_on(self, place: str, node: ast.AST, function: Function, steps: int = 0) -> bool:
        """Whether a container is there before each of the turns, or calls, that put an error into it: a variable of a
        function around, a global one, or what callers have from before."""
        if _is_from_before(place, node, function):
            return True
        if place in function.bound or "[]" in place or steps > _MOST_STEPS:
            return False
        calls = self._program.callers(function) if place in function.parameters else ()
        if calls:
            given = ((dotted(each), call, caller) for caller, call in calls for each in given_to(place, function, call))
            return any(
                name.startswith("self.") or self.lives_on(name, call, caller, steps + 1)
                for name, call, caller in given
                if name
            )
        if place in function.parameters:
            return False
        inner = function
        while (outer := self._program.names.around(inner)) is not None:
            if place in all_parameters(outer) or place in outer.bound:
                return place in all_parameters(outer) or _is_handed_out(outer, inner)
            inner = outer
        return self._program.names.top_with(place, function.source) is not None and not _is_top(function)


def _is_handed_out(outer: Function, inner: Function) -> bool:
    """Whether a function gives back one that is defined in it, which then is called again and again."""
    return any(inner.name in {getattr(node, "id", "") for node in walk(each)} for each in outer.returns)


def _is_top(function: Function) -> bool:
    return isinstance(function.node, ast.Module)


def _stores(first: Function, name: str) -> bool:
    """Whether an object stores what it is made with: not where it only makes a text of it, or reads its parts."""
    waiting: list[ast.AST] = list(getattr(first.node, "body", ()))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and node.id == name:
            return True
        is_text = isinstance(node, ast.Call) and called_name(node) in ("str", "repr", "type", "format", "isinstance")
        if not is_text and not isinstance(node, (ast.Attribute, ast.JoinedStr)):
            waiting += children(node)
        elif isinstance(node, ast.Attribute) and node.attr == "__traceback__":
            return True
    return False


def _is_of_error(program: Program, function: Function) -> bool:
    """Whether a function is a method of an exception of the program's own."""
    if function.owner is None or not function.is_method:
        return False
    bases = [base for each in program.relatives(function.owner) for base in each.bases]
    return any(
        isinstance(kind := getattr(builtins, base, None), type) and issubclass(kind, Exception) for base in bases
    )


def _gives_errors_back(call: ast.Call) -> bool:
    """`gather(..., return_exceptions=True)`."""
    return any(
        each.arg == "return_exceptions" and getattr(each.value, "value", True) is not False for each in call.keywords
    )


def _is_of(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and dotted(call.func.value) == name


def _is_log_handler(function: Function) -> bool:
    bases = function.owner.bases if function.owner is not None else ()
    return any(base.rpartition(".")[2].endswith("Handler") for base in bases)


def _is_caught_there(value: ast.expr, function: Function) -> bool:
    """Whether a variable's value is more than another variable, or is one in an `except` block."""
    gathers = bool(function.calls_of("gather"))
    return not isinstance(value, ast.Constant) and bool(gathers or function.handlers or not isinstance(value, ast.Name))


def _outlives(place: str, binding: Binding, function: Function, name: str) -> bool:
    """An attribute or an element of one; or a variable that is raised later, from the frame that the traceback
    holds, and so closes a ring."""
    if not place or place == name:
        return False
    if "." in place:
        return True
    if place.endswith("[]"):
        return _is_from_before(place.replace("[]", ""), binding, function)
    is_cleared = any(place in map(dotted, delete.targets) for delete in function.deletes)
    raises = (node.exc for node in walk(function.node) if isinstance(node, ast.Raise))
    in_loop = bool(function.loops_around(binding.lineno))
    return in_loop and not is_cleared and any(isinstance(each, ast.Name) and each.id == place for each in raises)


def _is_from_before(place: str, node: ast.AST, function: Function) -> bool:
    """Whether a container is there before the loop that an `except` block is in, and so keeps one error per turn."""
    loops = function.loops_around(getattr(node, "lineno", 0))
    bound = [each.lineno for each in function.bindings if place in map(dotted, targets_of(each))]
    return bool(loops) and bool(bound) and all(line < loops[0].lineno for line in bound)


def _is_of_import(handler: ast.ExceptHandler) -> bool:
    """Whether what is caught is that a package is missing: it went through no frame of a step."""
    return handler.type is not None and any(
        dotted(each) in ("ImportError", "ModuleNotFoundError") for each in walk(handler.type)
    )


def _is_stripped(block: ast.AST, source: SourceFile) -> bool:
    """Whether a block takes the traceback off: `error.with_traceback(None)`, `error.__traceback__ = None`."""
    if not any(mentions(source, each) for each in ("with_traceback", "clear_frames", "__traceback__")):
        return False
    for node in walk(block):
        if isinstance(node, ast.Attribute) and node.attr in ("with_traceback", "clear_frames"):
            return True
        if isinstance(node, ast.Assign) and any(dotted(each).endswith(".__traceback__") for each in node.targets):
            return True
    return False
