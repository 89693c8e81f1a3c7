"""Whether a variable that holds a tensor may at other times hold a number, which has no tensor's methods."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name, parameters_by_place
from tenure.syntax.text.name_uses import function_around, stored_in
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKE_NUMBERS = frozenset(
    {"item", "float", "int", "len", "round", "get_last_lr", "time", "perf_counter", "monotonic", "tolist", "elapsed"}
)
_NUMBERS = frozenset({"lr", "learning_rate", "epoch", "step", "global_step", "count", "seconds"})
_MOST_CALLS = 6


def may_be_number(sources: Sequence[SourceFile], source: SourceFile, value: ast.expr) -> bool:
    """Whether the variable `value` of a file gets a number somewhere, by what is written at the calls of its function.

    Followed are assignments, loops over displays and mappings, and arguments, by name over all files, a few calls far.
    What cannot be followed counts as what was seen: a tensor.
    """
    if not isinstance(value, ast.Name):
        return False
    trees = list(_trees(sources))
    try:
        scope = function_around(parse(source), [value.lineno])
    except SourceError:
        return True
    return _number_reaches(trees, scope, value.id, _MOST_CALLS)


def _trees(sources: Iterable[SourceFile]) -> Iterator[ast.Module]:
    for source in sources:
        try:
            yield parse(source)
        except SourceError:
            continue


def _number_reaches(trees: Sequence[ast.Module], scope: ast.AST, name: str, calls: int) -> bool:
    """Whether a number is bound to a variable of a function, or lies in what it is taken from."""
    if calls == 0:
        return False
    if any(_is_number(trees, scope, value, calls) for value in _bound_values(scope).get(name, ())):
        return True
    if not isinstance(scope, _FUNCTIONS):
        return False
    return any(_is_number(trees, outer, given, calls - 1) for outer, given in _arguments(trees, scope, name))


@lru_cache(maxsize=256)
def _bound_values(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Per variable of a function what it is assigned, or taken from in a loop."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(scope):
        pairs: list[tuple[ast.expr, list[ast.expr]]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, [node.value]) for target in node.targets]
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            pairs = [(node.target, _elements(node.iter))]
        for target, values in pairs:
            for name in stored_in(target):
                found.setdefault(name, []).extend(values)
    return found


@lru_cache(maxsize=256)
def _calls_by_name(tree: ast.Module) -> dict[str, list[ast.Call]]:
    found: dict[str, list[ast.Call]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Call):
            found.setdefault(called_name(node), []).append(node)
    return found


def _is_number(trees: Sequence[ast.Module], scope: ast.AST, value: ast.expr, calls: int) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float))
    if isinstance(value, (ast.Dict, ast.List, ast.Tuple, ast.Set)):
        return any(_is_number(trees, scope, part, calls) for part in _elements(value))
    if isinstance(value, ast.BinOp):
        return _is_number(trees, scope, value.left, calls) and _is_number(trees, scope, value.right, calls)
    if isinstance(value, ast.Subscript):
        key = value.slice.value if isinstance(value.slice, ast.Constant) else None
        return key in _NUMBERS or (isinstance(value.value, ast.Call) and _is_number(trees, scope, value.value, calls))
    if isinstance(value, ast.Call):
        called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        given = [each.value for each in value.keywords] if called == "dict" else []
        return called in _MAKE_NUMBERS or any(_is_number(trees, scope, each, calls) for each in given)
    if isinstance(value, ast.Attribute):
        return value.attr in _NUMBERS
    if isinstance(value, ast.Name):
        return value.id in _NUMBERS or _number_reaches(trees, scope, value.id, calls - 1)
    return False


def _elements(value: ast.expr) -> list[ast.expr]:
    """What lies in a display; a mapping whose `items()` or `values()` are gone through, as it is named."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("items", "values"):
        return [value.func.value]
    return [value] if isinstance(value, ast.Name) else []


def _arguments(
    trees: Sequence[ast.Module], function: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What calls of a function of this name pass as one of its arguments, each with the function of the call."""
    names = parameters_by_place(function)
    if name not in (*names, *(each.arg for each in function.args.kwonlyargs)):
        return
    for tree in trees:
        for call in _calls_by_name(tree).get(function.name, ()):
            given = [each.value for each in call.keywords if each.arg == name]
            given += call.args[names.index(name) :][:1] if name in names else []
            yield from ((function_around(tree, [call.lineno]), each) for each in given)
