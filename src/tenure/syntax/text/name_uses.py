"""Where a function mentions its variables, and which statements bind them in any case."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children, walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_USES_UP = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
_SEES_ALL = frozenset({"locals", "vars", "eval", "exec", "dir"})


@dataclass(frozen=True)
class Use:
    """One mention of a name. `inner` mentions stand in a function inside the scope."""

    name: str
    line: int
    loads: bool
    inner: bool = False


def uses_in(node: ast.AST, *, inner: bool = False) -> Iterator[Use]:
    """Mentions of names under a node; what a function inside (or a generator) mentions is read later."""
    for child in children(node):
        if isinstance(child, ast.Name):
            yield Use(child.id, child.lineno, isinstance(child.ctx, ast.Load), inner)
        later = isinstance(child, (*_FUNCTIONS, ast.ClassDef)) or _runs_later(child, node)
        yield from uses_in(child, inner=inner or later)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield Use(node.target.id, node.lineno, loads=True, inner=inner)


def _runs_later(node: ast.AST, parent: ast.AST) -> bool:
    """Whether a node is a generator expression that is not used up by the call it is an argument of."""
    if not isinstance(node, ast.GeneratorExp):
        return False
    return not (isinstance(parent, ast.Call) and dotted(parent.func).rpartition(".")[2] in _USES_UP)


def function_around(tree: ast.Module, lines: Collection[int]) -> ast.AST:
    """The innermost function around all lines, or the module."""
    functions = [node for node in _functions_in(tree) if spans(node, lines)]
    return max(functions, key=lambda node: node.lineno, default=tree)


def class_around(source: SourceFile, line: int) -> ast.ClassDef | None:
    """The innermost class around a line."""
    around = [each for each in nodes_of(source, ast.ClassDef) if spans(each, [line])]
    return max(around, key=lambda node: node.lineno, default=None)


@lru_cache(maxsize=256)
def _functions_in(tree: ast.Module) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    return tuple(node for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def spans(node: ast.stmt, lines: Collection[int]) -> bool:
    """Whether a statement stands around all lines."""
    return node.lineno <= min(lines) and max(lines) <= (node.end_lineno or node.lineno)


def is_shared(tree: ast.AST, names: Collection[str]) -> bool:
    """Whether a function under this node declares one of the names `global` or `nonlocal`."""
    shared = (node for node in walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return any(name in names for node in shared for name in node.names)


def sees_all_names(scope: ast.AST) -> bool:
    """Whether a function reads its variables without naming them: `locals()`, `eval(...)`."""
    calls = (node.func for node in walk(scope) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in _SEES_ALL for called in calls)


def surely_bound(body: Sequence[ast.stmt]) -> set[str]:
    """Names that these statements bind in any case, leaving the loop aside."""
    bound: set[str] = set()
    for node in body:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            bound |= {name for item in node.items if item.optional_vars for name in stored_in(item.optional_vars)}
            bound |= surely_bound(node.body)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
            bound |= stored_in(node)
        elif isinstance(node, ast.Delete):
            bound -= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return bound


def stored_in(node: ast.AST) -> set[str]:
    """Plain names that are bound under a node."""
    return {each.id for each in walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def begins_its_line(source: SourceFile, node: ast.stmt) -> bool:
    """Whether nothing but white space stands in front of a statement on its line."""
    return len(indent_of(source, node).encode()) == node.col_offset


def indent_of(source: SourceFile, node: ast.stmt) -> str:
    """The white space that the line of a statement begins with."""
    line = source.text.split("\n")[node.lineno - 1]
    return line[: len(line) - len(line.lstrip())]
