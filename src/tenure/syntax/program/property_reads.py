"""Where properties are read that store something, and where those with a setter are bound: each runs a method as a call
would."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tenure.syntax.program.objects import is_property
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.store_calls import GROWING_METHODS
from tenure.syntax.text.tree_walks import children, walk

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
            yield from _read_in(program, program.names.functions_in(source), stored)


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


def item_writes(program: Program) -> Iterator[tuple[Function, Function, ast.Call]]:
    """The `__setitem__`, the function that binds an item of its object, and the call that this comes to. Costs a look
    at the bindings of a program that has such a method, and following the names that its objects are made for."""
    setting = {each for each in program.functions if each.owner is not None and each.name == "__setitem__"}
    names = set(_names_of_objects(program, setting))
    for function in program.functions if names else ():
        for binding in function.bindings:
            if not isinstance(binding, ast.Assign):
                continue
            for target in binding.targets:
                if not isinstance(target, ast.Subscript) or _last_name(target.value) not in names:
                    continue
                classes = program.objects.classes_of(target.value, function)
                found = (program.method_of(each, "__setitem__") for each in classes)
                for method in [each for each in found if each in setting and each is not function]:
                    yield method, function, _setting_item(target, binding.value)


def _names_of_objects(program: Program, methods: Iterable[Function]) -> Iterator[str]:
    """Last names of variables and attributes that are bound to what makes objects of the methods' classes."""
    owners = {id(each.owner): each.owner for each in methods if each.owner is not None}
    for cls in owners.values():
        for caller, call in program.constructions(cls):
            bound = ((name, value) for name, values in caller.bound.items() for _, value in values)
            yield from (name.rpartition(".")[2] for name, value in bound if any(node is call for node in walk(value)))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _setting_item(target: ast.Subscript, value: ast.expr) -> ast.Call:
    func = ast.copy_location(ast.Attribute(value=target.value, attr="__setitem__", ctx=ast.Load()), target)
    return ast.copy_location(ast.Call(func=func, args=[target.slice, value], keywords=[]), target)


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
        for each in children(node):
            if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Constant)):
                waiting.append(each)
