"""A bound for the cache of a function that keeps every result: `@lru_cache(maxsize=None)`, `@cache`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines, replace_expression
from tenure.syntax.edits.statement_edits import remove_decorator, set_argument
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import FunctionNode, decorator_name, dotted, first_line, parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CACHES = ("cache", "lru_cache")
_CHANGES = (ast.Global, ast.Nonlocal, ast.AugAssign, ast.Delete, ast.Yield, ast.YieldFrom, ast.Await)
_LOOKS = ("cache_info", "cache_parameters")
_NEEDS = (*_LOOKS, "cache_clear", "__wrapped__")
_BY_CHANCE = ("rand", "dropout", "bernoulli", "multinomial", "normal", "sample", "shuffle", "choice", "generator")
_OUTSIDE = (
    "time",
    "perf_counter",
    "open",
    "print",
    "next",
    "input",
    "load",
    "register",
    "append",
    "module",
    "parameter",
)


def bound_cache(source: SourceFile, line: int, size: int, *, methods: bool = True) -> tuple[Edit, ...]:
    """The edit that lets the cached function around `line` (its decorators count) keep `size` results.

    None where it has a bound, and where a second call with the same arguments might do something else: one that
    draws at random, changes what is not its own, or gives back an object of its own making. A method, which reads its
    object, only where `methods` says so.
    """
    function = _function_at(source, line)
    if function is None or (_is_method(function) and not methods) or not _gives_the_same_again(function):
        return ()
    for decorator in function.decorator_list:
        found = _bounded(source, parse(source), decorator, size)
        if found:
            return found
    return ()


def drop_cache(
    source: SourceFile, line: int, *, by_trial: bool = False, makers: Collection[str] = ()
) -> tuple[Edit, ...]:
    """The edit that takes the cache off the function around `line` (its decorators count), which then computes a
    result anew at each call; none where a second call with the same arguments might do something else, unless a
    trial is to tell. `makers` are decorators of the program's own that cache."""
    function = _function_at(source, line)
    if function is None or not (by_trial or _gives_the_same_again(function)):
        return ()
    caches = [
        each
        for each in function.decorator_list
        if decorator_name(each).rpartition(".")[2] in _CACHES
        or _cache_behind(source, each) is not None
        or decorator_name(each) in makers
    ]
    return remove_decorator(source, caches[0]) if len(caches) == 1 else ()


def cache_makers(sources: Iterable[SourceFile]) -> list[str]:
    """The functions of a program whose result is what a cache makes of their argument:
    `def once(f): return functools.lru_cache(maxsize=None)(f)`."""
    return [
        node.name
        for source in sources
        for node in nodes_of(source, ast.FunctionDef)
        if node.args.args and any(_gives_cached(each, node.args.args[0].arg) for each in walk(node))
    ]


def _gives_cached(node: ast.AST, function: str) -> bool:
    """`return cache(function)`, or `return lru_cache(...)(function)`."""
    value = node.value if isinstance(node, ast.Return) else None
    if not isinstance(value, ast.Call) or [dotted(each) for each in value.args] != [function]:
        return False
    made_by = value.func.func if isinstance(value.func, ast.Call) else value.func
    return dotted(made_by).rpartition(".")[2] in _CACHES


def compute_at_each_read(source: SourceFile, name: str) -> tuple[Edit, ...]:
    """The edit that makes a property of the cached property `name`, whose objects keep what it gave for as long as they
    live; none where several have the name. What it gives is another object at each read: a run has to prove it."""
    functions = [node for node in nodes_in(source) if isinstance(node, ast.FunctionDef) and node.name == name]
    caches = [each for node in functions for each in node.decorator_list if _is_cached_property(each)]
    return replace_expression(source, caches[0], "property") if len(caches) == len(functions) == 1 else ()


def _is_cached_property(decorator: ast.expr) -> bool:
    return decorator_name(decorator) in ("cached_property", "functools.cached_property")


def _function_at(source: SourceFile, line: int) -> FunctionNode | None:
    try:
        functions: list[FunctionNode] = [*nodes_of(source, ast.FunctionDef), *nodes_of(source, ast.AsyncFunctionDef)]
    except SourceError:
        return None
    around = [node for node in functions if line <= (node.end_lineno or 0) and first_line(node) <= line]
    return max(around, key=lambda node: node.lineno, default=None)


def reads_caches(sources: Iterable[SourceFile]) -> bool:
    """Whether a program looks at the size or the hits of a function's cache, which a bound changes."""
    return _mentions(sources, _LOOKS)


def needs_caches(sources: Iterable[SourceFile]) -> bool:
    """Whether a program asks anything of a function that only a cached one has."""
    return _mentions(sources, _NEEDS)


def _mentions(sources: Iterable[SourceFile], names: Collection[str]) -> bool:
    for source in sources:
        if not any(mentions(source, name) for name in names):
            continue
        try:
            attributes = nodes_of(source, ast.Attribute)
        except SourceError:
            continue
        if any(node.attr in names for node in attributes):
            return True
    return False


def _bounded(source: SourceFile, tree: ast.Module, decorator: ast.expr, size: int) -> tuple[Edit, ...]:
    name = decorator_name(decorator)
    if (made := _cache_behind(source, decorator)) is not None:
        is_partial = called_name(made) == "partial"
        if _unbounded(made.args[is_partial:], made.keywords) is None:
            return ()
        if isinstance(decorator, ast.Call):
            own = decorator.args or any(each.arg == "maxsize" for each in decorator.keywords)
            return () if own else set_argument(source, decorator, "maxsize", str(size))
        cache = made.args[0] if is_partial else made.func
        text = ast.get_source_segment(source.text, cache)
        return replace_expression(source, decorator, f"{text}(maxsize={size})")
    if isinstance(decorator, ast.Call) and name.rpartition(".")[2] == "lru_cache":
        unbounded = _unbounded(decorator.args, decorator.keywords)
        return replace_expression(source, unbounded, str(size)) if unbounded is not None else ()
    if isinstance(decorator, (ast.Name, ast.Attribute)) and name == "functools.cache":
        return replace_expression(source, decorator, f"functools.lru_cache(maxsize={size})")
    if isinstance(decorator, ast.Name) and name == "cache":
        return _with_import(source, tree, replace_expression(source, decorator, f"lru_cache(maxsize={size})"))
    return ()


def _unbounded(args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> ast.Constant | None:
    """The None that `lru_cache` is given for a bound; None where it is given another, or has its own of 128."""
    given = [*args, *(each.value for each in keywords if each.arg == "maxsize")]
    first = given[0] if given else None
    return first if isinstance(first, ast.Constant) and first.value is None else None


def _cache_behind(source: SourceFile, decorator: ast.expr) -> ast.Call | None:
    """What a decorator of the file's own is made of: `memo = partial(lru_cache, maxsize=None)`, `lru_cache(None)`."""
    name = decorator_name(decorator)
    bound = [node for node in parse(source).body if isinstance(node, ast.Assign) and name in map(dotted, node.targets)]
    made = bound[0].value if len(bound) == 1 else None
    if not isinstance(made, ast.Call):
        return None
    of_cache = called_name(made) == "partial" and made.args and dotted(made.args[0]).rpartition(".")[2] == "lru_cache"
    return made if of_cache or called_name(made) == "lru_cache" else None


def _with_import(source: SourceFile, tree: ast.Module, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits, and `lru_cache` imported where `cache` is; none where it is not imported from functools."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "functools":
            names = {each.asname or each.name: each for each in node.names}
            if "lru_cache" in names:
                return edits
            if "cache" in names and names["cache"].name == "cache":
                alias = names["cache"]
                place = Insertion(alias.end_lineno or node.lineno, alias.end_col_offset or 0, ", lru_cache")
                return (*insert_into_lines(source, [place]), *edits)
    return ()


def _is_method(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return bool(arguments) and arguments[0].arg in ("self", "cls")


def _gives_the_same_again(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether nothing in a function speaks against computing a result once more."""
    for node in (each for statement in function.body for each in walk(statement)):
        if isinstance(node, _CHANGES):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
            if not called or called[0] == "_" or called[0].isupper() or called.lower() in _OUTSIDE:
                return False
            if any(word in called.lower() for word in _BY_CHANCE):
                return False
    returned = [node.value for node in walk(function) if isinstance(node, ast.Return)]
    displays = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Lambda)
    return bool(returned) and not any(value is None or isinstance(value, displays) for value in returned)
