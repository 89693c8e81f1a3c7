"""Where properties are read that store something, and where those with a setter are bound: each runs a method as a call
would."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tenure.syntax.program.objects import is_property
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.store_calls import GROWING_METHODS

if TYPE_CHECKING:
    from tenure.syntax.program.functions import Function
    from tenure.syntax.program.program import Program


def property_reads(program: Program) -> Iterator[tuple[Function, Function, ast.Call]]:
    """The property, the function that reads it, and the call that this comes to. Costs a walk over the files that name
    one which registers or collects something, and nothing where the program has none."""
    stored: dict[str, list[Function]] = {}
    for each in program.functions:
        if each.owner is not None and is_property(each) and any(map(_stores, each.calls)):
            stored.setdefault(each.name, []).append(each)
    named = {name: f".{name}" for name in stored}
    sources = {each.source.path: each.source for each in program.functions} if stored else {}
    for source in sources.values():
        if any(text in source.text for text in named.values()):
            yield from _read_in(program, program.functions_in(source), stored)


def property_writes(program: Program) -> Iterator[tuple[Function, Function, ast.Call]]:
    """The setter, the function that binds the property, and the call that this comes to. Costs a look at the bindings
    of a program that has a setter."""
    setters: dict[str, list[Function]] = {}
    for each in program.functions:
        if each.owner is not None and any(map(_is_setter, getattr(each.node, "decorator_list", ()))):
            setters.setdefault(each.name, []).append(each)
    for function in program.functions if setters else ():
        for binding in function.bindings:
            targets = binding.targets if isinstance(binding, ast.Assign) else [binding.target]
            written = [each for each in targets if isinstance(each, ast.Attribute) and each.attr in setters]
            for target in written if binding.value is not None else ():
                assert binding.value is not None
                made = ast.copy_location(ast.Call(func=target, args=[binding.value], keywords=[]), target)
                for setter in _meant(program, setters[target.attr], target.value, function):
                    yield setter, function, made


def _is_setter(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Attribute) and decorator.attr == "setter"


def _meant(program: Program, named: Sequence[Function], owner: ast.expr, function: Function) -> Iterator[Function]:
    classes = program.objects.classes_of(owner, function)
    for each in named:
        if each.owner in classes or (not classes and len(named) == 1 and each is not function):
            yield each


def _stores(call: ast.Call) -> bool:
    name = called_name(call)
    return name in GROWING_METHODS or (name.startswith("register") and name.endswith("hook"))


def _read_in(
    program: Program, functions: Sequence[Function], stored: dict[str, list[Function]]
) -> Iterator[tuple[Function, Function, ast.Call]]:
    for function in functions:
        for node in _attributes_in(function):
            for each in _meant(program, stored[node.attr], node.value, function) if node.attr in stored else ():
                yield each, function, ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)


def _attributes_in(function: Function) -> Iterator[ast.Attribute]:
    """Attributes that stand in a function itself, not in those defined inside."""
    waiting: list[ast.AST] = [function.node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute):
            yield node
        for each in ast.iter_child_nodes(node):
            if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Constant)):
                waiting.append(each)
