"""What a file of a program defines: functions and classes, each with what stands in it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tenure.model.source import SourceFile
from tenure.syntax.program.bound_values import bindings_of, contents_of, frozen_in
from tenure.syntax.text.expressions import called_name, target_pairs
from tenure.syntax.text.scopes import FunctionNode, LoopNode, dotted
from tenure.syntax.text.tree_walks import walk

Binding = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
With = ast.With | ast.AsyncWith
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


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
    owner: Class | None = None
    """The class that it is a method of, or inside one."""
    calls: list[ast.Call] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    loops: list[LoopNode] = field(default_factory=list)
    withs: list[With] = field(default_factory=list)
    returns: list[ast.Return] = field(default_factory=list)
    deletes: list[ast.Delete] = field(default_factory=list)
    handlers: list[ast.ExceptHandler] = field(default_factory=list)
    yields: list[ast.Yield | ast.YieldFrom] = field(default_factory=list)
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    comprehensions: list[Comprehension] = field(default_factory=list)
    declarations: list[ast.Global | ast.Nonlocal] = field(default_factory=list)

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
        by_name = self._calls_by_name
        if len(names) == 1:
            return by_name.get(names[0], [])
        found = by_name.keys() & names if by_name else ()
        if len(found) > 1:
            return [call for call in self.calls if called_name(call) in found]
        return by_name[min(found)] if found else []

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(called_name(call), []).append(call)
        return found

    @cached_property
    def bound(self) -> dict[str, list[tuple[int, ast.expr]]]:
        """What each variable and attribute is bound to, with the line."""
        return bindings_of(self)

    @cached_property
    def defined(self) -> frozenset[str]:
        """Functions and classes that its body defines, not further down."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return frozenset(each.name for each in self.node.body if isinstance(each, kinds))

    @cached_property
    def frozen(self) -> frozenset[str]:
        """Modules that it takes the gradients of."""
        return frozen_in(self)

    @cached_property
    def contents(self) -> dict[str, list[ast.expr]]:
        """What is put into each container."""
        return contents_of(self)

    @cached_property
    def handing(self) -> dict[str, list[ast.Call]]:
        """Per variable the calls that it is given to as it is."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            for each in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(each, ast.Name):
                    found.setdefault(each.id, []).append(call)
        return found

    @cached_property
    def loop_names(self) -> frozenset[str]:
        """Variables in the targets of its `for` loops."""
        targets = (each.target for each in self.loops if not isinstance(each, ast.While))
        return frozenset(part.id for target in targets for part in walk(target) if isinstance(part, ast.Name))

    def loops_around(self, line: int) -> list[LoopNode]:
        """The loops whose bodies a line is in, outermost first."""
        at = bisect_right(self._loop_starts, line) - 1 if self.loops else -1
        found = []
        while at >= 0:
            if is_in_body(line, self.loops[at]):
                found.append(self.loops[at])
            at = self._loops_outside[at]
        return found[::-1]

    @cached_property
    def _loop_starts(self) -> list[int]:
        return [loop.body[0].lineno for loop in self.loops]

    @cached_property
    def _loops_outside(self) -> list[int]:
        """For each loop the place of the one whose body it stands in; -1: none."""
        outside: list[int] = []
        for at, loop in enumerate(self.loops):
            near = at - 1
            while near >= 0 and not is_in_body(loop.lineno, self.loops[near]):
                near = outside[near]
            outside.append(near)
        return outside

    def turned_by(self, call: ast.Call) -> list[frozenset[str]]:
        """Of each comprehension that runs a call for every element: the variables that it goes through."""
        return [names for calls, names in self._turns if id(call) in calls]

    @cached_property
    def _turns(self) -> list[tuple[frozenset[int], frozenset[str]]]:
        found = []
        for each in self.comprehensions:
            parts = [each.key, each.value] if isinstance(each, ast.DictComp) else [each.elt]
            parts += [test for generator in each.generators for test in generator.ifs]
            calls = (id(node) for part in parts for node in walk(part) if isinstance(node, ast.Call))
            targets = (node for generator in each.generators for node in walk(generator.target))
            found.append((frozenset(calls), frozenset(node.id for node in targets if isinstance(node, ast.Name))))
        return found

    def runs_each_turn(self, call: ast.AST) -> bool:
        """Whether a loop or a comprehension runs a call again and again."""
        if self.loops_around(getattr(call, "lineno", 0)):
            return True
        return bool(self.comprehensions) and isinstance(call, ast.Call) and bool(self.turned_by(call))

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
    functions: list[Function] = field(default_factory=list)
    """Its methods, and what is defined inside them."""

    @cached_property
    def fields(self) -> dict[str, ast.expr]:
        """Attributes that its body annotates, in their order."""
        return {
            node.target.id: node.annotation
            for node in self.node.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }

    @cached_property
    def set_in_body(self) -> dict[str, list[ast.expr]]:
        """What its body binds each name to."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.node.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for name in dict.fromkeys(map(dotted, targets_of(node))):
                    found.setdefault(name, []).append(node.value)
        return found

    @cached_property
    def values(self) -> dict[str, list[tuple[ast.expr, Function]]]:
        """What its functions bind each attribute (`self.rows`) to, or put into it, each with its function."""
        found: dict[str, list[tuple[ast.expr, Function]]] = {}
        for function in self.functions:
            for name, bound in function.bound.items():
                if name.startswith("self."):
                    found.setdefault(name, []).extend((value, function) for _, value in bound)
            for name, contents in function.contents.items():
                if name.startswith("self."):
                    found.setdefault(name, []).extend((value, function) for value in contents)
        return found


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


def targets_of(binding: Binding) -> list[ast.expr]:
    """What a statement assigns to."""
    return binding.targets if isinstance(binding, ast.Assign) else [binding.target]


def pairs_of(binding: Binding) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What is assigned to, each with its own part of the value where both are displays."""
    for target in targets_of(binding):
        is_display = isinstance(target, (ast.Tuple, ast.List))
        yield from target_pairs(target, binding.value) if is_display else [(target, binding.value)]  # type: ignore[arg-type]
