"""The files of a program as functions and classes, with what each function calls, binds and returns.

One pass over each syntax tree; what is defined inside a function belongs to the inner one. Calls are resolved by name,
and only where one definition is meant.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.expressions import called_name, target_pairs
from tenure.syntax.scopes import MODULE, FunctionNode, LoopNode, dotted, parse

Binding = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
With = ast.With | ast.AsyncWith
_METHODS_OF_CONTAINERS = frozenset(name for kind in (list, dict, set, str, tuple) for name in dir(kind))
_CONTAINERS = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "field"})
_MOST_MEANT = 3
"""A name that more functions share means none of them."""
_MOST_NAMED = 12
_MODULE_BASES = ("Module", "PreTrainedModel", "LightningModule", "ModelMixin")


def is_in_body(line: int, loop: LoopNode) -> bool:
    """Whether each turn of a loop comes by a line."""
    return loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or loop.body[-1].lineno)


@dataclass(eq=False)
class Function:
    """A function, or what stands at the top of a file; its lists are in source order."""

    source: SourceFile
    node: FunctionNode | ast.Module
    qualname: str
    class_name: str = ""
    calls: list[ast.Call] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    loops: list[LoopNode] = field(default_factory=list)
    withs: list[With] = field(default_factory=list)
    returns: list[ast.Return] = field(default_factory=list)
    deletes: list[ast.Delete] = field(default_factory=list)
    handlers: list[ast.ExceptHandler] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As in `def name`."""
        return self.qualname.rpartition(".")[2]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names by place; those by keyword alone come last."""
        if isinstance(self.node, ast.Module):
            return ()
        arguments = self.node.args
        return tuple(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))

    def calls_of(self, *names: str) -> list[ast.Call]:
        """Calls of what goes by one of these names last: `append` of `self.rows.append(x)`. In source order."""
        found = [self._calls_by_name[name] for name in names if name in self._calls_by_name]
        if len(found) > 1:
            return [call for call in self.calls if called_name(call) in names]
        return found[0] if found else []

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(called_name(call), []).append(call)
        return found

    def loops_around(self, line: int) -> list[LoopNode]:
        """The loops whose bodies a line is in, outermost first."""
        return [loop for loop in self.loops if is_in_body(line, loop)]

    @property
    def is_method(self) -> bool:
        """Whether its first parameter is the object."""
        return bool(self.class_name) and bool(self.parameters) and self.parameters[0] in ("self", "cls")


@dataclass(eq=False)
class Class:
    """A class with its own methods; `bases` as written, without arguments."""

    source: SourceFile
    node: ast.ClassDef
    bases: tuple[str, ...]
    methods: dict[str, Function] = field(default_factory=dict)


class Program:
    """All of it; files that cannot be parsed are in `failures` and the rest goes on."""

    def __init__(self, sources: Iterable[SourceFile]) -> None:
        self.functions: list[Function] = []
        self.classes: dict[str, list[Class]] = {}
        self.failures: list[str] = []
        self._by_name: dict[str, list[Function]] = {}
        self._by_source: dict[str, list[Function]] = {}
        self._by_place: dict[tuple[str, str], Function] = {}
        self._called: dict[int, Function | None] = {}
        self._callbacks_by_shape: dict[tuple[object, ...], list[Function]] = {}
        for source in sources:
            try:
                self._read(source)
            except SourceError as error:
                self.failures.append(str(error))
        for function in self.functions:
            self._by_source.setdefault(function.source.path, []).append(function)
            self._by_place.setdefault((function.source.path, function.qualname), function)

    def functions_in(self, source: SourceFile) -> Sequence[Function]:
        """Those of one file."""
        return self._by_source.get(source.path, ())

    def around(self, function: Function) -> Function | None:
        """The function that another is defined in; None for one of a file's top or of a class there."""
        outer = function.qualname.rpartition(".<locals>.")[0]
        return self._by_place.get((function.source.path, outer)) if outer else None

    def seen_from(self, name: str, function: Function) -> Function | None:
        """The function that a plain name means: one defined inside, else in a function around, else of the program."""
        inside: Function | None = function
        while inside is not None:
            place = (inside.source.path, f"{inside.qualname}.<locals>.{name}")
            if place in self._by_place:
                return self._by_place[place]
            inside = self.around(inside)
        return _nearest([each for each in self._by_name.get(name, ()) if not each.class_name], function.source)

    def methods_named(self, class_name: str, method: str, near: SourceFile) -> Iterator[Function]:
        """A class's own method of this name, or the one that it inherits."""
        found = self._inherited(class_name, method, near, ())
        if found is not None:
            yield found

    def called_by(self, call: ast.Call, caller: Function) -> Function | None:
        """The function that a call runs, where the program defines exactly one that it can mean: the file's own come
        first, then the folder's."""
        if id(call) not in self._called:
            self._called[id(call)] = self._resolve(call, caller)
        return self._called[id(call)]

    def class_of(self, name: str, near: SourceFile | None = None) -> Class | None:
        """The class of this name that code of a file means, where there is one alone."""
        return _nearest(self.classes.get(name.rpartition(".")[2], ()), near)

    def is_module_class(self, name: str, near: SourceFile) -> bool:
        """Whether a class that code of a file means is a torch module, by its bases or its `forward`."""
        return self._is_module(name, near, ())

    def is_part_of_module(self, function: Function) -> bool:
        """Whether a function is a method of a torch module."""
        return bool(function.class_name) and self.is_module_class(function.class_name, function.source)

    def callers(self, function: Function) -> Sequence[tuple[Function, ast.Call]]:
        """Calls that mean this function and no other."""
        return self._callers.get(function, ())

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """Names of methods that are given to calls without being called: callbacks."""
        given = (each for function in self.functions for call in function.calls for each in call.args)
        return frozenset(each.attr for each in given if isinstance(each, ast.Attribute))

    @cached_property
    def _callers(self) -> dict[Function, list[tuple[Function, ast.Call]]]:
        found: dict[Function, list[tuple[Function, ast.Call]]] = {}
        for caller in self.functions:
            for call in caller.calls:
                called = self.called_by(call, caller)
                for each in (called,) if called is not None else self.may_call(call, caller):
                    found.setdefault(each, []).append((caller, call))
        return found

    def may_call(self, call: ast.Call, caller: Function) -> Sequence[Function]:
        """What a call may run where its name does not say it alone: methods of one name of a few classes, or what was
        handed on as a callback and takes such arguments."""
        if isinstance(call.func, ast.Attribute):
            name = call.func.attr
            named = self._by_name.get(name, ())
            if len(named) > _MOST_NAMED or name.startswith("__"):
                return ()
            if name in _METHODS_OF_CONTAINERS and self._is_container(call.func.value, caller):
                return ()
            found = [each for each in named if each.class_name and takes(each, call)]
            if found or dotted(call.func.value) != "self":
                return found if len(found) <= _MOST_MEANT else ()
        elif not isinstance(call.func, ast.Name) or not self._is_local(call.func.id, caller):
            return ()
        found = [each for each in self._callbacks_taking(call) if each is not caller]
        return found if len(found) <= _MOST_MEANT else ()

    def _callbacks_taking(self, call: ast.Call) -> list[Function]:
        """Those that a call's arguments fit, which their number and their names decide."""
        unpacked = any(isinstance(each, ast.Starred) for each in call.args)
        shape = (len(call.args), unpacked, *(each.arg for each in call.keywords))
        if shape not in self._callbacks_by_shape:
            self._callbacks_by_shape[shape] = [each for each in self.callbacks if takes(each, call)]
        return self._callbacks_by_shape[shape]

    @cached_property
    def callbacks(self) -> tuple[Function, ...]:
        """Functions, methods and callable objects that are given to calls."""
        found: dict[Function, None] = {}
        for caller in self.functions:
            for call in caller.calls:
                for each in (*call.args, *(keyword.value for keyword in call.keywords)):
                    handed = self._handed(each, caller)
                    if handed is not None:
                        found[handed] = None
        return tuple(found)

    def _handed(self, node: ast.expr, caller: Function) -> Function | None:
        if isinstance(node, ast.Name):
            return self.seen_from(node.id, caller) if node.id in self._by_name else None
        if isinstance(node, ast.Attribute):
            found = [each for each in self._by_name.get(node.attr, ()) if each.class_name]
            return found[0] if len(found) == 1 else None
        if isinstance(node, ast.Call):
            made = self.class_of(dotted(node.func), caller.source) if dotted(node.func) else None
            return made.methods.get("__call__") if made is not None else None
        return None

    def _is_local(self, name: str, function: Function) -> bool:
        bound = (part for each in function.loops if not isinstance(each, ast.While) for part in ast.walk(each.target))
        return name in function.parameters or any(getattr(part, "id", None) == name for part in bound)

    def _is_container(self, receiver: ast.expr, caller: Function) -> bool:
        """Whether a name of this file is bound to a list, dict or set, or nothing is known of it."""
        name = dotted(receiver)
        return not name or "[]" in name or (caller.source.path, name.rpartition(".")[2]) in self._containers

    @cached_property
    def _containers(self) -> set[tuple[str, str]]:
        return {
            (function.source.path, dotted(target).rpartition(".")[2])
            for function in self.functions
            for binding in function.bindings
            for target, value in _pairs(binding)
            if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))
            or (isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _CONTAINERS)
        }

    def _is_module(self, name: str, near: SourceFile, seen: tuple[str, ...]) -> bool:
        last = name.rpartition(".")[2]
        if last.endswith(_MODULE_BASES):
            return True
        known = self.class_of(last, near)
        if known is None or last in seen:
            return False
        above = (self._is_module(base, known.source, (*seen, last)) for base in known.bases)
        return "forward" in known.methods or any(above)

    def _resolve(self, call: ast.Call, caller: Function) -> Function | None:
        called = call.func
        if isinstance(called, ast.Name):
            return self._plain(called.id, caller)
        num_given = len(call.args) + len(call.keywords)
        return self._method(called, caller, num_given) if isinstance(called, ast.Attribute) else None

    def _plain(self, name: str, caller: Function) -> Function | None:
        made = self.class_of(name, caller.source)
        if made is not None:
            return made.methods.get("__init__")
        return _nearest([each for each in self._by_name.get(name, ()) if not each.class_name], caller.source)

    def _method(self, function: ast.Attribute, caller: Function, num_given: int) -> Function | None:
        if isinstance(function.value, ast.Name) and function.value.id == "self" and caller.class_name:
            return self._inherited(caller.class_name, function.attr, caller.source, ())
        if isinstance(function.value, ast.Name) and function.value.id in self._stems:
            named = self._of_file(function.value.id, function.attr)
            if named is not None:
                return named
        found = [each for each in self._by_name.get(function.attr, ()) if each.class_name]
        if len(found) == 1 and (function.attr not in _METHODS_OF_CONTAINERS or num_given > _most_given(function.attr)):
            return found[0]
        made = self._constructed.get((caller.source.path, dotted(function.value)), set())
        return self._inherited(next(iter(made)), function.attr, caller.source, ()) if len(made) == 1 else None

    def made_by(self, name: str, function: Function) -> Class | None:
        """The class of the program that a file's variable is made by, where it is one alone."""
        made = self._constructed.get((function.source.path, name), set())
        return self.class_of(next(iter(made)), function.source) if len(made) == 1 else None

    @cached_property
    def _stems(self) -> frozenset[str]:
        """Names of the program's files, as `import` has them."""
        return frozenset(posixpath.basename(path).removesuffix(".py") for path in self._by_source)

    def _of_file(self, stem: str, name: str) -> Function | None:
        found = [
            each
            for each in self._by_name.get(name, ())
            if each.qualname == name and posixpath.basename(each.source.path) == f"{stem}.py"
        ]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _constructed(self) -> dict[tuple[str, str], set[str]]:
        """Per file and name: what is called for its value."""
        found: dict[tuple[str, str], set[str]] = {}
        for function in self.functions:
            for binding in function.bindings:
                for target, value in _pairs(binding):
                    if isinstance(value, ast.Call) and (name := dotted(target)):
                        called = dotted(value.func).rpartition(".")[2]
                        found.setdefault((function.source.path, name), set()).add(called)
        return found

    def _inherited(self, class_name: str, method: str, near: SourceFile, seen: tuple[str, ...]) -> Function | None:
        known = self.class_of(class_name, near)
        if known is None or class_name in seen:
            return None
        if method in known.methods:
            return known.methods[method]
        bases = (base.rpartition(".")[2] for base in known.bases)
        above = (self._inherited(base, method, known.source, (*seen, class_name)) for base in bases)
        return next((each for each in above if each is not None), None)

    def _read(self, source: SourceFile) -> None:
        top = Function(source, parse(source), MODULE)
        self.functions.append(top)
        self._walk(ast.iter_child_nodes(top.node), top, "", None)

    def _walk(self, nodes: Iterable[ast.AST], function: Function, prefix: str, cls: Class | None) -> None:
        waiting = list(nodes)[::-1]
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                waiting += [*node.decorator_list, *_defaults(node)]
                self._enter_function(node, function, prefix, cls)
                continue
            if isinstance(node, ast.ClassDef):
                waiting += [*node.decorator_list, *node.bases]
                self._enter_class(node, function, prefix)
                continue
            kind = type(node)
            if kind in _NOTED:
                getattr(function, _NOTED[kind]).append(node)
            for name in _INNER_FIELDS.get(kind, ()):
                inside = getattr(node, name, None)
                if type(inside) is list:
                    waiting += inside[::-1]
                elif inside is not None:
                    waiting.append(inside)

    def _enter_function(self, node: FunctionNode, outer: Function, prefix: str, cls: Class | None) -> None:
        inner = Function(outer.source, node, prefix + node.name, cls.node.name if cls is not None else "")
        self.functions.append(inner)
        self._by_name.setdefault(node.name, []).append(inner)
        if cls is not None:
            cls.methods.setdefault(node.name, inner)
        self._walk(node.body, inner, f"{inner.qualname}.<locals>.", None)

    def _enter_class(self, node: ast.ClassDef, outer: Function, prefix: str) -> None:
        bases = tuple(filter(None, (dotted(base).removesuffix("[]") for base in node.bases)))
        cls = Class(outer.source, node, bases)
        self.classes.setdefault(node.name, []).append(cls)
        self._walk(node.body, outer, f"{prefix}{node.name}.", cls)


def takes(function: Function, call: ast.Call) -> bool:
    """Whether a call's arguments fit a function's parameters, as far as they are written out."""
    if isinstance(function.node, ast.Module):
        return False
    arguments = function.node.args
    unpacked = any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords)
    names = [each for each in function.parameters if not (function.is_method and each == function.parameters[0])]
    if arguments.kwarg is None and any(each.arg and each.arg not in names for each in call.keywords):
        return False
    if unpacked or arguments.vararg is not None:
        return True
    by_place = len(arguments.posonlyargs) + len(arguments.args) - function.is_method
    given = len(call.args) + len(call.keywords)
    least = by_place - len(arguments.defaults)
    return least <= given and len(call.args) <= by_place


def _most_given(method: str) -> int:
    """How many arguments a container's method of this name takes."""
    return 1 if method in ("append", "add", "extend", "update", "remove", "discard", "count") else 3


Defined = TypeVar("Defined", Function, Class)


def _nearest(found: Sequence[Defined], near: SourceFile | None) -> Defined | None:
    """What is defined in the same file, else in the same folder, else anywhere; None where that are several."""
    if near is not None and len(found) > 1:
        here = [each for each in found if each.source.path == near.path]
        folder = posixpath.dirname(near.path)
        found = here or [each for each in found if posixpath.dirname(each.source.path) == folder] or found
    return found[0] if len(found) == 1 else None


def targets_of(binding: Binding) -> list[ast.expr]:
    """What a statement assigns to."""
    return binding.targets if isinstance(binding, ast.Assign) else [binding.target]


def _pairs(binding: Binding) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What is assigned to, each with its own part of the value where both are displays."""
    for target in targets_of(binding):
        is_display = isinstance(target, (ast.Tuple, ast.List))
        yield from target_pairs(target, binding.value) if is_display else [(target, binding.value)]  # type: ignore[arg-type]


_NOTED: dict[type, str] = {
    **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr), "bindings"),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), "loops"),
    **dict.fromkeys((ast.With, ast.AsyncWith), "withs"),
    **{ast.Call: "calls", ast.Return: "returns", ast.Delete: "deletes", ast.ExceptHandler: "handlers"},
}
"""Which list of its function a node goes to."""
_WITHOUT_NODES = frozenset(
    {"id", "attr", "arg", "ctx", "op", "ops", "name", "names", "asname", "module", "level", "kind"}
)
"""Fields of syntax nodes in which none of these nodes lie."""


_INNER_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in reversed(kind._fields) if name not in _WITHOUT_NODES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and not issubclass(kind, (ast.Constant, ast.Name))
}
"""Of each kind of node the fields in which nodes lie, last first."""


def _defaults(node: FunctionNode) -> Iterator[ast.expr]:
    yield from node.args.defaults
    yield from (each for each in node.args.kw_defaults if each is not None)
