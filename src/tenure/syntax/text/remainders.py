"""Intervals that a program counts by: `step % log_every == 0`, with the number where the source says it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tenure.model.source import SourceFile, SourceLocation
from tenure.syntax.text.tree_walks import walk


@dataclass(frozen=True)
class Remainder:
    """One remainder in a condition: its text, where it stands, and every value its divisor may have."""

    expression: str
    where: SourceLocation
    divisors: frozenset[int]


def find_remainders(sources: Iterable[SourceFile]) -> tuple[Remainder, ...]:
    """All remainders in conditions of the sources; a divisor's name may be given its value in any of the files.

    A value counts where a constant is assigned to the name, is its default as a parameter or a field, or is passed
    by that keyword. Files that do not parse are left out.
    """
    trees = [(source, tree) for source in sources if (tree := _parse(source)) is not None]
    values: dict[str, set[int]] = {}
    for _, tree in trees:
        for name, value in _named_values(tree):
            values.setdefault(name, set()).add(value)
    return tuple(
        Remainder(ast.unparse(node), SourceLocation(source.path, node.lineno, ""), divisors)
        for source, tree in trees
        for node in _in_conditions(tree)
        if (divisors := _divisors(node.right, values))
    )


def _parse(source: SourceFile) -> ast.Module | None:
    try:
        return ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _in_conditions(tree: ast.AST) -> Iterator[ast.BinOp]:
    for node in walk(tree):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            for part in walk(node.test):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
                    yield part


def _divisors(node: ast.expr, values: dict[str, set[int]]) -> frozenset[int]:
    if isinstance(node, ast.Constant):
        return frozenset({node.value}) if type(node.value) is int else frozenset()
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return frozenset(values.get(name, ()))


def _named_values(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in walk(tree):
        for name, value in _pairs(node):
            if isinstance(value, ast.Constant) and type(value.value) is int:
                yield name, value.value


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield _target_name(target), node.value
    elif isinstance(node, ast.AnnAssign):
        yield _target_name(node.target), node.value
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value
    elif isinstance(node, ast.arguments):
        named = [*node.posonlyargs, *node.args]
        yield from ((arg.arg, default) for arg, default in zip(reversed(named), reversed(node.defaults), strict=False))
        yield from ((arg.arg, default) for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
        yield from _option(node)
    elif isinstance(node, ast.Dict):
        yield from ((str(key.value), value) for key, value in _items(node) if isinstance(key, ast.Constant))


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return iter(zip(node.keys, node.values, strict=True))


def _option(call: ast.Call) -> Iterator[tuple[str, ast.expr | None]]:
    """`add_argument("--log-every", default=50)`."""
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            name = argument.value.lstrip("-").replace("-", "_")
            yield from ((name, keyword.value) for keyword in call.keywords if keyword.arg == "default")


def _target_name(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else ""
