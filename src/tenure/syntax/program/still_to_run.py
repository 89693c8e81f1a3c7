"""What of a program may run yet, seen from the lines that its running functions execute.

By names alone, and too much rather than too little: whoever is named in what may run may run, whatever the name means
there. What is named without being called somewhere, as a callback is, may run at any time; so may the methods that
Python or a library calls by names of their own, lambdas, and what a decorator that is not known got hold of.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tenure.model.source import SourceFile
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.objects import is_property
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import MODULE, decorator_name, first_line, statements
from tenure.syntax.text.tree_walks import children, walk

_MAKING = frozenset({"__init__", "__new__", "__post_init__"})
_MAKERS = frozenset({"cls", "type", "__class__", "replace"})
"""With these an object is made without its class's name."""
_KNOWN_BASES = frozenset(
    {"object", "ABC", "Protocol", "Generic", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum", "Exception"}
)
_KNOWN_OF_TORCH = frozenset({"Dataset", "IterableDataset", "Module"})
"""Classes that call methods of those below them by few names of their own; others of these names may call any."""
_CALLED_BY_BASES = frozenset({"forward", "train", "extra_repr", "get_extra_state", "set_extra_state"})
_KNOWN_DECORATORS = frozenset(
    {"property", "cached_property", "staticmethod", "classmethod", "abstractmethod", "override", "overload", "wraps"}
    | {"no_grad", "inference_mode", "enable_grad", "autocast", "contextmanager", "lru_cache", "cache", "setter"}
    | {"dataclass", "compile", "ignore", "export", "unused"}
)
"""They hand the function on to its own name alone."""
_BY_TEXT = ("eval", "exec", "globals", "locals")
"""With these a function is called by a text that is made up."""


@dataclass(frozen=True)
class Running:
    """A line that a function, a generator that waits or a file's top executes."""

    source: SourceFile
    line: int


@dataclass(frozen=True)
class _Start:
    """Where a function goes on: from a line, without the call that it waits for."""

    line: int
    running: ast.Call | None


_FROM_THE_TOP = _Start(0, None)


def can_be_told(program: Program, running: Iterable[Running]) -> bool:
    """Whether names say what may run: all files can be parsed, each running line is in a function of one, and nothing
    is called by its text."""
    if program.failures or any(program.names.innermost_at(each.source, each.line) is None for each in running):
        return False
    by_text = (call for name in _BY_TEXT for each in program.calling.get(name, ()) for call in each.calls_of(name))
    return not any(isinstance(call.func, ast.Name) for call in by_text)


class StillToRun:
    """The functions of a program that may run yet, the running ones from a line on."""

    def __init__(self, program: Program, running: Iterable[Running]) -> None:
        self._program = program
        self._starts = _starts(program, running)
        self._names: set[tuple[str, bool]] = set()
        self._modules: set[str] = set()
        self._waiting = [node for function, start in self._starts.items() for node in _own_nodes(function, start)]
        self._functions: set[Function] = set()
        self._enter(each for each in program.functions if _may_run_at_any_time(program, each))
        for name, is_plain in _named_without_a_call(program):
            self._name(name, is_plain=is_plain)
        while self._waiting:
            self._take(self._waiting.pop())

    def may_run(self, function: Function, line: int) -> bool:
        """Whether a line of a function may run yet."""
        return function in self._functions or (function in self._starts and line >= self._starts[function].line)

    def _take(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            self._name(node.id, is_plain=True)
        elif isinstance(node, ast.Attribute):
            self._name(node.attr, is_plain=False)
        elif isinstance(node, ast.alias):
            self._import(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            self._import(node.module)
        elif isinstance(node, ast.MatchClass):
            for name in node.kwd_attrs:
                self._name(name, is_plain=False)

    def _name(self, name: str, *, is_plain: bool) -> None:
        """`is_plain`: a variable's name, which no method goes by."""
        if (name, is_plain) in self._names:
            return
        self._names.add((name, is_plain))
        named = self._program.names
        if name in _MAKERS:
            self._enter(each for each in self._program.functions if each.name in _MAKING)
        meant = named.functions_named.get(name, ())
        self._enter(each for each in meant if not (is_plain and each.class_name))
        for cls in named.classes.get(name, ()):
            for base in self._program.relatives(cls):
                self._enter(each for key, each in base.methods.items() if key in _MAKING)

    def _import(self, module: str) -> None:
        """What is imported, and the packages that it is in."""
        for name in set(module.split(".")) - self._modules:
            self._modules.add(name)
            self._enter(self._program.names.tops_called(name))

    def _enter(self, functions: Iterable[Function]) -> None:
        for function in functions:
            if function not in self._functions:
                self._functions.add(function)
                self._waiting += _own_nodes(function, _FROM_THE_TOP)


def _starts(program: Program, running: Iterable[Running]) -> dict[Function, _Start]:
    """Of each function that runs where it goes on, and so of whoever may have called it and is not known to run."""
    lines: dict[Function, list[int]] = {}
    for each in running:
        for function in _running_at(program, each):
            lines.setdefault(function, []).append(each.line)
    waiting = list(lines)
    while waiting:
        called = waiting.pop().name
        for caller in program.calling.get(called, ()):
            if caller not in lines:
                lines[caller] = [call.lineno for call in caller.calls_of(called)]
                waiting.append(caller)
    names = {function.name for function in lines}
    return {function: _start(function, sorted(at), names) for function, at in lines.items()}


def _running_at(program: Program, running: Running) -> Iterator[Function]:
    """The functions that a line may belong to: a generator that has not begun is at its first decorator."""
    innermost = program.names.innermost_at(running.source, running.line)
    if innermost is not None:
        yield innermost
    for each in program.names.functions_in(running.source):
        if not isinstance(each.node, ast.Module) and first_line(each.node) <= running.line < each.node.lineno:
            yield each


def _start(function: Function, lines: Sequence[int], running: Collection[str]) -> _Start:
    """Where a function that executes one of the lines goes on: at the outermost loop around the first, or at what is
    left of its statement once the call that runs has returned."""
    around = [node for node in statements(function.node.body) if node.lineno <= lines[0] <= (node.end_lineno or 0)]
    loops = [node.lineno for node in around if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    if loops:
        return _Start(min(loops), None)
    innermost = max(around, key=lambda node: node.lineno, default=None)
    if innermost is None or len(lines) > 1:
        return _Start(innermost.lineno if innermost is not None else lines[0], None)
    calls = [node for node in _of_statement(innermost) if isinstance(node, ast.Call) and called_name(node) in running]
    return _Start(innermost.lineno, calls[0] if len(calls) == 1 else None)


def _of_statement(statement: ast.stmt) -> Iterator[ast.AST]:
    """What stands in a statement itself, without the statements inside of it."""
    for part in children(statement):
        if not isinstance(part, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield from walk(part)


def _own_nodes(function: Function, start: _Start) -> Iterator[ast.AST]:
    """What stands in a function from a line on, its lambdas and the classes that it defines with it; of functions
    inside what they are defined with."""
    waiting: list[ast.AST] = list(function.node.body)
    while waiting:
        node = waiting.pop()
        if node is start.running:
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [*node.decorator_list, node.args]
            continue
        waiting += children(node)
        if getattr(node, "lineno", 0) >= start.line:
            yield node


def _named_without_a_call(program: Program) -> Iterator[tuple[str, bool]]:
    """What the program names but to call it or to say of what kind something is: it may run at any time. So may what
    its lambdas name, whoever has them now. Each with whether a variable goes by it."""
    for top in (each for each in program.functions if each.qualname == MODULE):
        plainly = {id(each) for node in walk(top.node) for each in _named_plainly(node)}
        for node in walk(top.node):
            if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
                yield from _names_in(node)
            elif isinstance(node, ast.ClassDef):
                yield from ((node.name, True) for each in node.decorator_list if _hands_on(each))
                yield from ((name, False) for part in node.body for name in _named_in_class(part))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value, False
            elif isinstance(node, ast.alias) and node.asname:
                yield node.name, True
            elif id(node) not in plainly and isinstance(getattr(node, "ctx", None), ast.Load):
                yield from (each for each in _named_by(node) if each[1] or not _are_properties(program, each[0]))


def _named_plainly(node: ast.AST) -> Iterator[ast.AST]:
    """What a call calls, a class inherits from and an annotation says: nobody has it by that."""
    if isinstance(node, ast.Call):
        yield node.func
    elif isinstance(node, ast.ClassDef):
        yield from (part for base in node.bases for part in walk(base))
    elif isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation is not None:
        yield from walk(node.annotation)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
        yield from walk(node.returns)


def _names_in(node: ast.AST) -> Iterator[tuple[str, bool]]:
    for each in walk(node):
        yield from _named_by(each)


def _named_by(node: ast.AST) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.Name):
        yield node.id, True
    elif isinstance(node, ast.Attribute):
        yield node.attr, False


def _named_in_class(statement: ast.stmt) -> Iterator[str]:
    """In a class's own statements a plain name may be a method's."""
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from (node.id for node in walk(statement) if isinstance(node, ast.Name))


def _are_properties(program: Program, name: str) -> bool:
    named = program.names.methods_named.get(name, ())
    return bool(named) and all(map(is_property, named))


def _may_run_at_any_time(program: Program, function: Function) -> bool:
    """Whether Python or a library may call it by a name of its own, or a decorator has it."""
    if function.qualname == MODULE or function.name in _MAKING:
        return False
    if function.name.startswith("__") or any(map(_hands_on, getattr(function.node, "decorator_list", ()))):
        return True
    if not function.class_name or function.owner is None:
        return False
    return any(_may_call(program, cls, function.name) for cls in program.relatives(function.owner))


def _hands_on(decorator: ast.expr) -> bool:
    """Whether a decorator may give what it is put on to others."""
    return decorator_name(decorator).rpartition(".")[2] not in _KNOWN_DECORATORS


def _may_call(program: Program, cls: Class, method: str) -> bool:
    """Whether a base class of another's may call a method of this name."""
    for base in cls.bases:
        name = base.rpartition(".")[2]
        is_torchs = name in _KNOWN_OF_TORCH and program.names.full_name(base, cls.source).startswith("torch.")
        if not (is_torchs or name in _KNOWN_BASES or program.names.class_of(base, cls.source) is not None):
            return True
    return method in _CALLED_BY_BASES or (method.startswith("_") and any(map(_is_module, cls.bases)))


def _is_module(base: str) -> bool:
    return base.rpartition(".")[2] == "Module"
