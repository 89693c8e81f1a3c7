"""Subscriptions that nobody ends: who calls `subscribe` calls `unsubscribe` when it is done."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import FunctionNode, dotted, parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ADDS, _REMOVES = ("append", "add", "setdefault"), ("remove", "discard", "pop")


def end_subscriptions(sources: Sequence[SourceFile], attribute: str) -> Iterator[tuple[Edit, ...]]:
    """For each class with one method that adds to the container `attribute` and one that takes out of it: the edit by
    which a function that has called the one, and not the other, calls the other at its end, with what the first gave.
    """
    for source in sources:
        for cls in (node for node in nodes_in(source) if isinstance(node, ast.ClassDef)):
            methods = [each for each in cls.body if isinstance(each, _FUNCTIONS) and each.name != "__init__"]
            adding = [each for each in methods if _calls_on(each, attribute, _ADDS)]
            removing = [each for each in methods if _calls_on(each, attribute, _REMOVES)]
            if len(adding) == len(removing) == 1 and adding != removing:
                for file in sources:
                    yield from _ended(file, adding[0], removing[0])


def _calls_on(method: FunctionNode, attribute: str, names: Sequence[str]) -> bool:
    calls = (node.func for node in walk(method) if isinstance(node, ast.Call))
    changes = (each.value for each in calls if isinstance(each, ast.Attribute) and each.attr in names)
    return any(dotted(each).replace("[]", "") == f"self.{attribute}" for each in changes)


def _ended(file: SourceFile, adding: FunctionNode, removing: FunctionNode) -> Iterator[tuple[Edit, ...]]:
    for statement in (node for node in nodes_in(file) if isinstance(node, ast.Assign)):
        call, target = statement.value, statement.targets[0]
        if (
            not isinstance(call, ast.Call)
            or not isinstance(target, ast.Name)
            or not isinstance(call.func, ast.Attribute)
        ):
            continue
        function, owner = function_around(parse(file), [statement.lineno]), dotted(call.func.value)
        if not isinstance(target, ast.Name) or not isinstance(function, _FUNCTIONS):
            continue
        if call.func.attr != adding.name or not owner:
            continue
        ends = any(
            isinstance(node, ast.Attribute) and node.attr == removing.name and dotted(node.value) == owner
            for node in walk(function)
        )
        given = _given(file, call, target.id, adding, removing)
        if given and not ends:
            yield at_end(file, function, f"{owner}.{removing.name}({', '.join(given)})")


def _given(file: SourceFile, call: ast.Call, result: str, adding: FunctionNode, removing: FunctionNode) -> list[str]:
    """What the removing method is given, as text: what the adding one was given for the same names, and what it gave
    for the one that it does not take."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return []
    names = [each.arg for each in adding.args.args[1:]]
    known = {name: ast.get_source_segment(file.text, value) for name, value in zip(names, call.args, strict=False)}
    known |= {each.arg: ast.get_source_segment(file.text, each.value) for each in call.keywords if each.arg}
    wanted = [each.arg for each in removing.args.args[1:]]
    given = [known.get(name) or (result if name not in names else None) for name in wanted]
    return [each for each in given if each] if all(given) and given.count(result) == 1 else []
