"""Functions whose results are kept with their graphs, and may be computed without: `@torch.no_grad()` above them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.edits.statement_edits import decorate
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRAINS = ("backward", "grad", "step")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Placed = tuple[SourceFile, FunctionNode]


def compute_without_graph(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str
) -> Iterator[tuple[Edit, ...]]:
    """For each function of the program that the kept value of the statement on `line` comes from, the edit that puts
    it under `torch.no_grad()`: one that is called for it there, the function itself, or one that callers call for it.

    None of a function that runs a backward pass, or of a file that does not import torch.
    """
    kept = find_kept(source, line, name)
    if kept is None or kept.value is None:
        return
    around = function_around(parse(source), [line])
    placed = [each for called in _called_in(around, kept.value) for each in _definitions(sources, called)]
    placed += [(source, around)] if isinstance(around, _FUNCTIONS) else []
    by_callers = _called_by_callers(sources, around, kept.value)
    placed += [each for called in by_callers for each in _definitions(sources, called)]
    for file, function in dict.fromkeys(placed):
        edits = _decorated(file, function)
        if edits:
            yield edits


def _decorated(source: SourceFile, function: FunctionNode) -> tuple[Edit, ...]:
    tree = parse(source)
    imported = {each.asname or each.name for node in tree.body if isinstance(node, ast.Import) for each in node.names}
    trains = any(isinstance(node, ast.Call) and called_name(node) in _TRAINS for node in walk(function))
    above = {dotted(each.func if isinstance(each, ast.Call) else each) for each in function.decorator_list}
    if trains or function.name == "__init__" or "torch" not in imported or above & {"torch.no_grad", "property"}:
        return ()
    return decorate(source, function, "torch.no_grad()")


def _called_in(function: ast.AST, value: ast.expr) -> Iterator[str]:
    """Names of what is called to make a value, and the variables in it."""
    names = {node.id for node in walk(value) if isinstance(node, ast.Name)}
    bound = [
        node.value
        for node in walk(function)
        if isinstance(node, ast.Assign) and names & {each for target in node.targets for each in _plain(target)}
    ]
    for part in (value, *bound):
        yield from (called_name(node) for node in walk(part) if isinstance(node, ast.Call))


def _called_by_callers(sources: Sequence[SourceFile], function: ast.AST, value: ast.expr) -> Iterator[str]:
    """The same of the arguments that callers give for what is kept."""
    if not isinstance(function, _FUNCTIONS):
        return
    names = {node.id for node in walk(value) if isinstance(node, ast.Name)}
    if not names & {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}:
        return
    for source in sources:
        for caller in _functions(source):
            for node in walk(caller):
                if isinstance(node, ast.Call) and called_name(node) == function.name:
                    for given in (*node.args, *(each.value for each in node.keywords)):
                        yield from _called_in(caller, given)


def _plain(target: ast.expr) -> Iterator[str]:
    yield from (node.id for node in walk(target) if isinstance(node, ast.Name))


def _definitions(sources: Sequence[SourceFile], name: str) -> Iterator[Placed]:
    """The functions of this name; where there is none, `__call__` of a class that is named like the variable."""
    found = [(source, each) for source in sources for each in _functions(source) if each.name == name]
    yield from found
    if found or not name:
        return
    for source in sources:
        for cls in _classes(source):
            if cls.name.lower() == name.replace("_", "").lower():
                yield from (
                    (source, each) for each in cls.body if isinstance(each, _FUNCTIONS) and each.name == "__call__"
                )


def _functions(source: SourceFile) -> list[FunctionNode]:
    return [node for node in nodes_in(source) if isinstance(node, _FUNCTIONS)]


def _classes(source: SourceFile) -> list[ast.ClassDef]:
    return [node for node in nodes_in(source) if isinstance(node, ast.ClassDef)]
