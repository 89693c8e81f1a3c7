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
from tenure.syntax.expressions import target_pairs
from tenure.syntax.scopes import MODULE, FunctionNode, LoopNode, dotted, parse

Binding = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
With = ast.With | ast.AsyncWith
_METHODS_OF_CONTAINERS = frozenset(name for kind in (list, dict, set, str, tuple) for name in dir(kind))
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
        self._called: dict[int, Function | None] = {}
        for source in sources:
            try:
                self._read(source)
            except SourceError as error:
                self.failures.append(str(error))
        for function in self.functions:
            self._by_source.setdefault(function.source.path, []).append(function)

    def functions_in(self, source: SourceFile) -> Sequence[Function]:
        """Those of one file."""
        return self._by_source.get(source.path, ())

    def called_by(self, call: ast.Call, caller: Function) -> Function | None:
        """The function that a call runs, where the program defines exactly one that it can mean: the file's own come
        first, then the folder's."""
        if id(call) not in self._called:
            self._called[id(call)] = self._resolve(call.func, caller)
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
    def _callers(self) -> dict[Function, list[tuple[Function, ast.Call]]]:
        found: dict[Function, list[tuple[Function, ast.Call]]] = {}
        for caller in self.functions:
            for call in caller.calls:
                called = self.called_by(call, caller)
                if called is not None:
                    found.setdefault(called, []).append((caller, call))
        return found

    def _is_module(self, name: str, near: SourceFile, seen: tuple[str, ...]) -> bool:
        last = name.rpartition(".")[2]
        if last.endswith(_MODULE_BASES):
            return True
        known = self.class_of(last, near)
        if known is None or last in seen:
            return False
        above = (self._is_module(base, known.source, (*seen, last)) for base in known.bases)
        return "forward" in known.methods or any(above)

    def _resolve(self, called: ast.expr, caller: Function) -> Function | None:
        if isinstance(called, ast.Name):
            return self._plain(called.id, caller)
        return self._method(called, caller) if isinstance(called, ast.Attribute) else None

    def _plain(self, name: str, caller: Function) -> Function | None:
        made = self.class_of(name, caller.source)
        if made is not None:
            return made.methods.get("__init__")
        return _nearest([each for each in self._by_name.get(name, ()) if not each.class_name], caller.source)

    def _method(self, function: ast.Attribute, caller: Function) -> Function | None:
        if isinstance(function.value, ast.Name) and function.value.id == "self" and caller.class_name:
            return self._inherited(caller.class_name, function.attr, caller.source, ())
        found = [each for each in self._by_name.get(function.attr, ()) if each.class_name]
        if len(found) == 1 and function.attr not in _METHODS_OF_CONTAINERS:
            return found[0]
        made = self._constructed.get((caller.source.path, dotted(function.value)), set())
        return self._inherited(next(iter(made)), function.attr, caller.source, ()) if len(made) == 1 else None

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
            _note(node, function)
            waiting += list(ast.iter_child_nodes(node))[::-1]

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


def _note(node: ast.AST, function: Function) -> None:
    if isinstance(node, ast.Call):
        function.calls.append(node)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        function.bindings.append(node)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        function.loops.append(node)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        function.withs.append(node)
    elif isinstance(node, ast.Return):
        function.returns.append(node)


def _defaults(node: FunctionNode) -> Iterator[ast.expr]:
    yield from node.args.defaults
    yield from (each for each in node.args.kw_defaults if each is not None)
